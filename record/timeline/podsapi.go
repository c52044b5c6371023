package timeline

import (
	"bytes"
	"encoding/json"

	"github.com/skewrig/skewrig/record"
)

// PodsAnswer is what the Pods API of a node answered.
type PodsAnswer struct {
	Method  string            `json:"method"`
	Code    string            `json:"code"`
	Message string            `json:"message"`
	Pods    map[string]*Raw   `json:"pods"` // by name, as pods has them
	List    []*Raw            `json:"list"` // in the order in which they came
	Bytes   int               `json:"bytes"`
	Socket  record.PodsSocket `json:"socket"`
	// At is when it was answered, in seconds since the record began.
	At float64 `json:"at"`
}

// PodsAnswers are the answers to a step: to one that asks once, the one answer.
type PodsAnswers struct {
	PodsAnswer
	// Codes are how often which code was answered.
	Codes map[string]int `json:"codes"`
}

// PodsWatch is a watch of a node's Pods API.
type PodsWatch struct {
	Events []PodsEvent `json:"events"`
	// Synced is true once the initial pods are complete.
	Synced bool `json:"synced"`
	// Pods are the pods as a client has them that does what the events say.
	Pods map[string]*Raw `json:"pods"`
	// Code is how the watch ended: the name of a gRPC status code. Empty while it
	// goes on.
	Code    string `json:"code"`
	Message string `json:"message"`
}

// PodsEvent is an event of a watch.
type PodsEvent struct {
	Type string `json:"type"`
	// Name is that of the pod. Empty if the event came without one.
	Name string `json:"name"`
	Pod  *Raw   `json:"pod"`
	// At is when it came, in seconds since the record began.
	At float64 `json:"at"`
}

// PodsPoll is what a poll was answered.
type PodsPoll struct {
	// Views are the answers that differ from the one before.
	Views []PodsAnswer `json:"views"`
	// Codes are how often which code was answered, once the poll has ended.
	Codes map[string]int `json:"codes"`
}

// addPodsAPI takes into account what an agent got from the Pods API of its node.
func (t *Timeline) addPodsAPI(e Entry) {
	switch p := e.Payload.(type) {
	case record.PodsAnswer:
		answers := t.PodsAnswers[e.Subject]
		if answers == nil {
			answers = &PodsAnswers{Codes: make(map[string]int)}
			t.PodsAnswers[e.Subject] = answers
		}
		answers.PodsAnswer = t.podsAnswer(e, p)
		answers.Codes[answers.Code]++
	case record.PodsPolled:
		poll := t.poll(e.Subject)
		poll.Views = append(poll.Views, t.podsAnswer(e, p.PodsAnswer))
	case record.PodsEvent:
		t.watched(e, p)
	case record.PodsEnded:
		if p.Calls != nil { // only a poll counts
			t.poll(e.Subject).Codes = p.Calls
			return
		}
		w := t.watch(e.Subject)
		w.Code, w.Message = p.Code, p.Message
	}
}

func (t *Timeline) podsAnswer(e Entry, said record.PodsAnswer) PodsAnswer {
	a := PodsAnswer{
		Method: said.Method, Code: said.Code, Message: said.Message, Bytes: said.Bytes, Socket: said.Socket,
		Pods: make(map[string]*Raw), List: []*Raw{}, At: t.Seconds(e.At),
	}
	for _, text := range said.List {
		pod := NewRaw(text)
		a.List = append(a.List, pod)
		a.Pods[podName(pod)] = pod
	}
	return a
}

func (t *Timeline) poll(step string) *PodsPoll {
	if t.PodsPolls[step] == nil {
		t.PodsPolls[step] = &PodsPoll{Views: []PodsAnswer{}, Codes: make(map[string]int)}
	}
	return t.PodsPolls[step]
}

func (t *Timeline) watch(step string) *PodsWatch {
	if t.PodsWatches[step] == nil {
		t.PodsWatches[step] = &PodsWatch{Events: []PodsEvent{}, Pods: make(map[string]*Raw)}
	}
	return t.PodsWatches[step]
}

func (t *Timeline) watched(e Entry, said record.PodsEvent) {
	w, event := t.watch(e.Subject), PodsEvent{Type: said.Type, At: t.Seconds(e.At)}
	if len(said.Pod) > 0 {
		event.Pod = NewRaw(said.Pod)
		event.Name = podName(event.Pod)
	}
	switch event.Type {
	case record.PodsSynced:
		w.Synced = true
	case record.PodDeleted:
		delete(w.Pods, event.Name)
	default:
		w.Pods[event.Name] = event.Pod
	}
	w.Events = append(w.Events, event)
}

// podName is what expressions call a pod. A field mask may leave the namespace out, and then
// the name is all there is. What can't be read has no name.
func podName(pod *Raw) string {
	d := json.NewDecoder(bytes.NewReader(pod.Text()))
	if _, err := d.Token(); err != nil {
		return ""
	}
	for d.More() { // metadata is the first field: the rest, which is much, is not looked at
		field, err := d.Token()
		if err != nil {
			return ""
		}
		if field == "metadata" {
			return metadataName(d)
		}
		if d.Decode(new(json.RawMessage)) != nil {
			return ""
		}
	}
	return ""
}

// metadataName is the name that the metadata of an object, which come next, have.
func metadataName(d *json.Decoder) string {
	var metadata struct{ Namespace, Name string }
	switch err := d.Decode(&metadata); {
	case err != nil:
		return ""
	case metadata.Namespace == "":
		return metadata.Name
	default:
		return Name(metadata.Namespace, metadata.Name)
	}
}
