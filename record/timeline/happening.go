package timeline

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
)

// PodEvent is an Event about a pod.
type PodEvent struct {
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Count   int    `json:"count"`
}

// Happening is an Event object that says something new: that something happened, or
// that it happened again.
type Happening struct {
	Moment
	PodEvent
	About corev1.ObjectReference
	// Said is when it happened last, as the event has it: to the second. Those of the newer
	// API do not have it.
	Said time.Time
}

// happened takes an Event object into account. PodEvents has them in the order of
// their first appearance; a repetition changes the one that is there.
func (t *Timeline) happened(seen record.ObjectObserved, m Moment) {
	var event struct {
		PodEvent
		InvolvedObject corev1.ObjectReference `json:"involvedObject"`
		LastTimestamp  time.Time              `json:"lastTimestamp"`
	}
	if json.Unmarshal(seen.Object, &event) != nil {
		return
	}
	about := event.InvolvedObject
	key := seen.Namespace + "/" + seen.Name
	if count := max(1, event.Count); seen.Change != "deleted" && count > t.counts[key] { // those of the newer API count otherwise
		t.counts[key] = count
		t.Happenings = append(t.Happenings, Happening{Moment: m, PodEvent: event.PodEvent, About: about, Said: event.LastTimestamp})
	}
	if about.Kind != "Pod" {
		return
	}
	if t.events[seen.Name] != nil {
		*t.events[seen.Name] = event.PodEvent
		return
	}
	pod := Name(about.Namespace, about.Name)
	t.events[seen.Name] = &event.PodEvent
	t.PodEvents[pod] = append(t.PodEvents[pod], &event.PodEvent)
}
