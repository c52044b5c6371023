package check

import (
	"github.com/skewrig/skewrig/record"
)

// PodsAnswer is what the Pods API of a node answered.
type PodsAnswer struct {
	Method  string            `json:"method"`
	Code    string            `json:"code"`
	Message string            `json:"message"`
	Pods    map[string]any    `json:"pods"` // by name, as pods has them
	List    []any             `json:"list"` // in the order in which they came
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
	Pods map[string]any `json:"pods"`
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
	Pod  any    `json:"pod"`
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

// agents is what a record says of the agents of a rig, by step, as expressions see
// it.
type agents struct{ answers, watches, polls map[string]any }

func newAgents() agents {
	return agents{answers: make(map[string]any), watches: make(map[string]any), polls: make(map[string]any)}
}

// saw takes an event of an agent into account, and reports whether it is one.
func (a *agents) saw(e record.Event, at float64) bool {
	switch e.Kind {
	case record.PodsAnswer{}.EventKind():
		answer, _ := record.As[record.PodsAnswer](e)
		a.answered(e.Subject, answer, at)
	case record.PodsPolled{}.EventKind():
		view, _ := record.As[record.PodsPolled](e)
		poll := a.poll(e.Subject)
		views, _ := poll["views"].([]any)
		poll["views"] = append(views, decoded(newPodsAnswer(view.PodsAnswer, at)))
	case record.PodsEvent{}.EventKind():
		event, _ := record.As[record.PodsEvent](e)
		a.watched(e.Subject, event, at)
	case record.PodsEnded{}.EventKind():
		end, _ := record.As[record.PodsEnded](e)
		a.ended(e.Subject, end)
	default:
		return false
	}
	return true
}

func (a *agents) answered(step string, answer record.PodsAnswer, at float64) {
	before, _ := a.answers[step].(map[string]any)
	codes, _ := before["codes"].(map[string]any)
	if codes == nil {
		codes = make(map[string]any)
	}
	times, _ := codes[answer.Code].(int64)
	codes[answer.Code] = times + 1
	shown, _ := decoded(newPodsAnswer(answer, at)).(map[string]any)
	shown["codes"] = codes
	a.answers[step] = shown
}

func newPodsAnswer(a record.PodsAnswer, at float64) PodsAnswer {
	shown := PodsAnswer{
		Method: a.Method, Code: a.Code, Message: a.Message, List: a.List, Pods: make(map[string]any),
		Bytes: a.Bytes, Socket: a.Socket, At: at,
	}
	for _, pod := range a.List {
		shown.Pods[podName(pod)] = pod
	}
	return shown
}

func (a *agents) poll(step string) map[string]any {
	if a.polls[step] == nil {
		a.polls[step] = decoded(PodsPoll{Views: []PodsAnswer{}, Codes: make(map[string]int)})
	}
	poll, _ := a.polls[step].(map[string]any)
	return poll
}

func (a *agents) watch(step string) map[string]any {
	if a.watches[step] == nil {
		a.watches[step] = decoded(PodsWatch{Events: []PodsEvent{}, Pods: make(map[string]any)})
	}
	watch, _ := a.watches[step].(map[string]any)
	return watch
}

func (a *agents) watched(step string, event record.PodsEvent, at float64) {
	w := a.watch(step)
	pods, _ := w["pods"].(map[string]any)
	shown, _ := decoded(PodsEvent{Type: event.Type, Name: podName(event.Pod), Pod: event.Pod, At: at}).(map[string]any)
	switch name := podName(event.Pod); event.Type {
	case record.PodsSynced:
		w["synced"] = true
	case record.PodDeleted:
		delete(pods, name)
	default:
		pods[name] = shown["pod"]
	}
	events, _ := w["events"].([]any)
	w["events"] = append(events, shown)
}

// ended takes the end of a watch or of a poll into account. Only a poll counts.
func (a *agents) ended(step string, end record.PodsEnded) {
	if end.Calls != nil {
		a.poll(step)["codes"] = decoded(end.Calls)
		return
	}
	w := a.watch(step)
	w["code"], w["message"] = end.Code, end.Message
}

// podName is what expressions call a pod. It is empty without one. A field mask may
// leave the namespace out, and then the name is all there is.
func podName(pod any) string {
	fields, _ := pod.(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	if namespace == "" {
		return name
	}
	return PodName(namespace, name)
}
