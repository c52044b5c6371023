// Package conformance holds any server of the Pods API against what KEP-4188 says
// of it, as far as that can be seen from its socket alone: a real machine's kubelet
// too. Observe asks and records, Judge judges the record and asks nothing.
package conformance

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
)

// Record is what was seen of a server.
type Record struct {
	// Path is the path of the socket, from the root, and Socket what is there.
	Path   string
	Socket record.PodsSocket
	// Closed is true if the one who looked may not see what is at the path.
	Closed bool
	// Before is the list that came first, and After the one that came after
	// everything else but what is asked in masses.
	Before, After Answer
	// UID is that of the pod that was got, the first of the list. Empty if there was
	// none.
	UID string
	// Got is that pod, and Unknown the answer for a UID that no pod has.
	Got, Unknown Answer
	// MaskedList and MaskedGot are the answers with the field mask Fields, and
	// Malformed is the one with the mask BadFields.
	MaskedList, MaskedGot, Malformed Answer
	// Watches are two that were open at the same time, and MaskedWatch is one with
	// the field mask Fields.
	Watches     [2]Watch
	MaskedWatch Watch
	// Lists and Opened are how often which code was answered to very many lists, and
	// to very many watches that were opened.
	Lists, Opened map[string]int
}

const (
	// Fields is the field mask that is asked for.
	Fields = "metadata.name,metadata.uid,status.phase"
	// BadPath is no field of a pod.
	BadPath = "spec.nonsense"
	// BadFields is a field mask with BadPath in it.
	BadFields = "metadata.name," + BadPath
	// UnknownUID is the UID of no pod.
	UnknownUID = "00000000-0000-0000-0000-000000000000"
)

// Answer is what was answered to one request.
type Answer struct {
	// Code is the name of the gRPC status code: "OK", "FailedPrecondition".
	Code    string
	Message string
	Pods    []Pod
	// Bytes are those of the pods as they came.
	Bytes int
}

// Pod is a pod as it came.
type Pod struct {
	corev1.Pod
	// Unreadable says why the bytes are not those of a pod. Empty if they are.
	Unreadable string
}

// Watch is a watch up to the event that says that the initial pods are complete.
type Watch struct {
	// Events are those up to there.
	Events []Event
	// Code is how the watch ended, or else OK, when the client had seen enough.
	Code    string
	Message string
}

// Event is an event of a watch.
type Event struct {
	// Type is ADDED, MODIFIED, DELETED or INITIAL_SYNC_COMPLETE.
	Type string
	// Pod is nil if the event came without one.
	Pod *Pod
}

// the types of events.
const (
	added    = record.PodAdded
	modified = record.PodModified
	deleted  = record.PodDeleted
	synced   = record.PodsSynced
)

// synced reports whether the watch came to the end of the initial pods.
func (w Watch) synced() bool {
	return len(w.Events) > 0 && w.Events[len(w.Events)-1].Type == synced
}

// pods are the pods after all events, by UID.
func (w Watch) pods() map[string]Pod {
	have := make(map[string]Pod)
	for _, e := range w.Events {
		switch {
		case e.Pod == nil:
		case e.Type == deleted:
			delete(have, string(e.Pod.UID))
		default:
			have[string(e.Pod.UID)] = *e.Pod
		}
	}
	return have
}

// byUID are the pods of an answer.
func (a Answer) byUID() map[string]Pod {
	pods := make(map[string]Pod)
	for _, p := range a.Pods {
		pods[string(p.UID)] = p
	}
	return pods
}

// name is what a pod is called in a report.
func (p Pod) name() string {
	switch {
	case p.Unreadable != "":
		return "one that can't be read"
	case p.Name == "":
		return "one without a name, with the UID " + string(p.UID)
	case p.Namespace == "":
		return p.Name
	}
	return p.Namespace + "/" + p.Name
}
