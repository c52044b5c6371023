package podsapi

// Answer is what was answered to one request. It is recorded with the name of the
// step as its subject.
type Answer struct {
	// Node is that of the kubelet that was asked. Empty where it is not known.
	Node string `json:"node,omitempty"`
	// Method is ListPods or GetPod.
	Method string `json:"method"`
	// Code is the name of the gRPC status code: "OK", "FailedPrecondition".
	// "Unavailable" is the client's own word for that nobody answered.
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	// List are the pods, in the order in which they came.
	List []any `json:"list"`
	// Bytes are those of the pods as they came.
	Bytes  int    `json:"bytes"`
	Socket Socket `json:"socket"`
}

// EventKind implements record.Payload.
func (Answer) EventKind() string { return "podsapi.answer" }

// The types of events.
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
	// Synced comes without a pod: those there were are complete.
	Synced = "INITIAL_SYNC_COMPLETE"
)

// Event is an event of a watch. Its subject is the name of the watch.
type Event struct {
	// Type is Added, Modified, Deleted or Synced.
	Type string `json:"type"`
	// Pod is what the event is about; nil if it came without one.
	Pod any `json:"pod,omitempty"`
}

// EventKind implements record.Payload.
func (Event) EventKind() string { return "podsapi.event" }

// Ended is recorded when a watch or a poll is over.
type Ended struct {
	// Code is the name of the gRPC status code with which a watch ended.
	// "Canceled" is that of one that the client ended.
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	// Calls are how often which code was answered to a poll.
	Calls map[string]int `json:"calls,omitempty"`
}

// EventKind implements record.Payload.
func (Ended) EventKind() string { return "podsapi.ended" }

// Polled is recorded when a poll is answered something else than before. Those
// that are refused for their rate are not: they say nothing of the pods.
type Polled struct{ Answer }

// EventKind implements record.Payload.
func (Polled) EventKind() string { return "podsapi.polled" }
