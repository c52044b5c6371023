package timeline

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
)

// PodEvent is an Event about a pod or a node.
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

// happened takes an Event object into account. PodEvents and Nodes have them in the order of
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
	if count := max(1, event.Count); seen.Change != record.Deleted && seen.Change != record.Unserved && count > t.counts[key] { // those of the newer API count otherwise
		t.counts[key] = count
		t.Happenings = append(t.Happenings, Happening{Moment: m, PodEvent: event.PodEvent, About: about, Said: event.LastTimestamp})
	}
	if about.Kind != "Pod" && about.Kind != "Node" {
		return
	}
	if t.events[seen.Name] != nil {
		*t.events[seen.Name] = event.PodEvent
		return
	}
	t.events[seen.Name] = &event.PodEvent
	if about.Kind == "Node" {
		t.aboutNode(about.Name, &event.PodEvent)
		return
	}
	pod := Name(about.Namespace, about.Name)
	t.PodEvents[pod] = append(t.PodEvents[pod], &event.PodEvent)
}

// aboutNode adds an Event about a node, which a kubelet sends before there is the node, too.
func (t *Timeline) aboutNode(node string, event *PodEvent) {
	t.nodeEvents[node] = append(t.nodeEvents[node], event)
	if n := t.Nodes[node]; n != nil {
		n.Events = append(n.Events, event)
	}
}
