package record

import (
	"encoding/json"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/release"
)

// ComponentStarted is recorded when a component is ready.
type ComponentStarted struct {
	// Version is what the binary said it is; Digest identifies the binary.
	Version release.Version `json:"version"`
	Source  string          `json:"source"`
	Digest  string          `json:"digest"`
	Gates   release.Gates   `json:"gates,omitempty"`
	// EmulatedVersion is the minor version that it says it emulates, and
	// MinCompatibilityVersion the oldest that it expects beside it. If unset, it emulates
	// none.
	EmulatedVersion         release.Version `json:"emulatedVersion,omitempty"`
	MinCompatibilityVersion release.Version `json:"minCompatibilityVersion,omitempty"`

	PID int `json:"pid"`
	// ReadySeconds is how long it took from start to ready.
	ReadySeconds float64 `json:"readySeconds"`
}

// Effective is the release with what it emulates.
func (s ComponentStarted) Effective() release.Effective {
	return release.Effective{Version: s.Version, Emulated: s.EmulatedVersion, MinCompatibility: s.MinCompatibilityVersion}
}

// ComponentStopped is recorded when a component has ended.
type ComponentStopped struct {
	State string `json:"state"`
	// Code is its exit status. It is -1 if a signal ended it, which Signal names then:
	// "SIGKILL".
	Code   int    `json:"code,omitempty"`
	Signal string `json:"signal,omitempty"`
	// Asked is false if it died by itself.
	Asked bool `json:"asked"`
	// Seconds is how long it took to end after SIGTERM asked it to: 0 without one.
	Seconds float64 `json:"seconds,omitempty"`
	// Overdue is true if it did not end in its time then, and was killed.
	Overdue bool `json:"overdue,omitempty"`
}

// ClockSet is recorded when a component's clock was set, and before its first start. A restart keeps the clock.
// The subject is the component: "kubelet/node-a".
type ClockSet struct {
	Clock clock.Clock `json:"clock"`
}

// NodeRebooted is recorded when a node has been rebooted and its kubelet is about to be started:
// what comes before is how its kubelet and its containers ended. The subject is the node.
type NodeRebooted struct {
	// Before is the boot ID that the node had, and BootID the one that it has now.
	Before string `json:"before"`
	BootID string `json:"bootID"`
}

// StaticPodWritten is recorded when a manifest was put where a node's kubelet
// looks for static pods. The subject is the pod as the kubelet names it:
// "default/web-node-a".
type StaticPodWritten struct {
	Node string          `json:"node"`
	Pod  json.RawMessage `json:"pod"`
}

// The changes of an object that is not shown any more.
const (
	Deleted = "deleted"
	// Unserved says that the API server does not serve the resource any more, as after a restart without its feature gate.
	// The object is not deleted: it may be shown again.
	Unserved = "unserved"
)

// ObjectObserved is recorded when an API object was seen to be new, different
// or gone, or when its resource is not served any more. The object is as the API server returned it, fields unknown to
// skewrig included.
type ObjectObserved struct {
	// Cluster is the rig that the object is in, if there are several: "seed".
	Cluster string `json:"cluster,omitempty"`
	// Change is "added", "modified", "deleted" or "unserved".
	Change    string          `json:"change"`
	Resource  string          `json:"resource"` // plural: "pods"
	Namespace string          `json:"namespace,omitempty"`
	Name      string          `json:"name"`
	Object    json.RawMessage `json:"object"`
	// Writers are the field managers that have changed the object since this watch saw it
	// last, as its managedFields prove. If unset, that is not known.
	Writers []Writer `json:"writers,omitempty"`
}

// Writer is a field manager that writes an object.
type Writer struct {
	Manager   string `json:"manager"`
	Operation string `json:"operation"` // Update or Apply
	// Subresource is the part of the object that is written. If unset, the object itself is.
	Subresource string `json:"subresource,omitempty"`
}

// Routed is recorded when a component is led to other API servers. The subject is the
// component.
type Routed struct {
	// Via are their names: b is kube-apiserver/b. Of several, each gets its turn.
	Via []string `json:"via"`
}

// Observing is recorded, where API servers have names, when objects are observed as another one
// shows them than before. The subject is that API server.
type Observing struct{}
