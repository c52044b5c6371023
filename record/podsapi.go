package record

import "encoding/json"

// PodsAnswer is what was answered to one request. It is recorded with the name of the
// step as its subject.
type PodsAnswer struct {
	// Node is that of the kubelet that was asked. Empty where it is not known.
	Node string `json:"node,omitempty"`
	// Method is ListPods or GetPod.
	Method string `json:"method"`
	// Code is the name of the gRPC status code: "OK", "FailedPrecondition".
	// "Unavailable" is the client's own word for no answer.
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	// List are the pods, in the order in which they came.
	List []json.RawMessage `json:"list"`
	// Bytes are those of the pods as they came.
	Bytes  int        `json:"bytes"`
	Socket PodsSocket `json:"socket"`
}

// The types of events.
const (
	PodAdded    = "ADDED"
	PodModified = "MODIFIED"
	PodDeleted  = "DELETED"
	// PodsSynced comes without a pod: those there were are complete.
	PodsSynced = "INITIAL_SYNC_COMPLETE"
)

// PodsEvent is an event of a watch. Its subject is the name of the watch.
type PodsEvent struct {
	// Type is Added, Modified, Deleted or Synced.
	Type string `json:"type"`
	// Pod is what the event is about; empty if it came without one.
	Pod json.RawMessage `json:"pod,omitempty"`
}

// PodsEnded is recorded when a watch or a poll is over.
type PodsEnded struct {
	// Code is the name of the gRPC status code with which a watch ended.
	// "Canceled" is that of one that the client ended.
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	// Calls are how often which code was answered to a poll.
	Calls map[string]int `json:"calls,omitempty"`
}

// PodsPolled is recorded when a poll is answered something else than before. Those
// that are refused for their rate are not: they say nothing of the pods.
type PodsPolled struct{ PodsAnswer }

// PodsSocket is a socket as a client finds it.
type PodsSocket struct {
	// Path is where it is, below the kubelet's directory if it was looked for
	// there. Empty if there is none.
	Path string `json:"path"`
	// Mode and DirMode are the permissions of the socket and of the directory
	// that it is in, as ls writes them: "srwx------".
	Mode    string `json:"mode"`
	DirMode string `json:"dirMode"`
}
