// Package spec is the scenario language as Go types, with strict decoding:
// every problem of a file is reported at once, with its line and column. The
// manual of the language is the package comment of package scenarios.
package spec

import (
	"cmp"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// APIVersion and Kind are what a scenario file must declare.
const (
	APIVersion = "skewrig.dev/v1alpha1"
	Kind       = "Scenario"
)

// Scenario is one file of the language.
type Scenario struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// ID is area/group/name.
	ID string `json:"id"`
	// Title says in a sentence what the scenario shows.
	Title string `json:"title"`
	// Control is the id of the scenario in which what this one shows must go
	// the other way: its negative control. If unset, it has none.
	Control string `json:"control,omitempty"`
	// Axes expand the scenario into cells. If unset, it is one cell.
	Axes map[string][]string `json:"axes,omitempty"`
	// Where is a condition on the axes. Combinations for which it doesn't hold
	// are no cells. If unset, all of them are.
	Where    string   `json:"where,omitempty"`
	Topology Topology `json:"topology"`
	Images   []Image  `json:"images,omitempty"`
	// Steps are those of the file, with the sequences that it uses put in.
	Steps []Step `json:"steps"`
}

// Topology is the rig that a scenario needs.
type Topology struct {
	// TimeScale is by how much shorter than written the times of nodeMonitor,
	// leaseNodes and garden are, so that an outage of minutes fits into seconds.
	// If unset, they are as written.
	TimeScale    float64      `json:"timeScale,omitempty"`
	ControlPlane ControlPlane `json:"controlPlane"`
	Nodes        []Node       `json:"nodes,omitempty"`
	LeaseNodes   *LeaseNodes  `json:"leaseNodes,omitempty"`
	Garden       *Garden      `json:"garden,omitempty"`
}

// ControlPlane is what runs beside the nodes.
type ControlPlane struct {
	// Version is a release, "newest", "previous" or a minor version ("v1.36"). If unset, newest.
	Version release.Version `json:"version,omitempty"`
	Gates   release.Gates   `json:"gates,omitempty"`
	// ControllerManager and Scheduler are run unless set to false.
	ControllerManager *bool `json:"controllerManager,omitempty"`
	Scheduler         *bool `json:"scheduler,omitempty"`
	// NodeMonitor is how the controller manager looks after nodes.
	NodeMonitor *NodeMonitor `json:"nodeMonitor,omitempty"`
}

// Node is a simulated node with a real kubelet.
type Node struct {
	Name string `json:"name"`
	// Version is a release, "newest", "previous" or a minor version ("v1.36"). If unset, newest.
	//
	// A node of version "reference" has the newest kubelet, with a server of the Pods
	// API that does what the text of KEP-4188 asks for.
	Version release.Version `json:"version,omitempty"`
	Gates   release.Gates   `json:"gates,omitempty"`
	// Standalone is a kubelet that knows of no API server. It runs static pods.
	Standalone bool `json:"standalone,omitempty"`
}

// Image maps the images that match a pattern to a fake server.
type Image = record.Image

// Step is one thing to do. Exactly one of its actions is set.
type Step struct {
	// Name names the step in expressions (requests["name"]) and in the plan.
	// If unset, it is the number of the step.
	Name string `json:"name,omitempty"`
	// When is a condition on the axes and on the releases that are in force
	// before the step. If it doesn't hold, the step is left out. If unset, the
	// step is for all cells.
	When string `json:"when,omitempty"`
	// Run says whether the step is taken after something went wrong. If unset,
	// it is taken as long as the steps before it could be done.
	Run record.Run `json:"run,omitempty"`

	Apply     Objects    `json:"apply,omitempty"`
	File      string     `json:"file,omitempty"`
	Patch     *Patch     `json:"patch,omitempty"`
	StaticPod *StaticPod `json:"staticPod,omitempty"`
	Delete    string     `json:"delete,omitempty"`
	Restart   *Restart   `json:"restart,omitempty"`
	Start     *Restart   `json:"start,omitempty"`
	Stop      string     `json:"stop,omitempty"`
	Kill      string     `json:"kill,omitempty"`
	Wait      *Wait      `json:"wait,omitempty"`
	Scrape    *Scrape    `json:"scrape,omitempty"`
	Log       *Log       `json:"log,omitempty"`
	PodsAPI   *PodsAPI   `json:"podsAPI,omitempty"`
	Cut       *Cut       `json:"cut,omitempty"`
	Slow      *Slow      `json:"slow,omitempty"`
	Answer    *Answer    `json:"answer,omitempty"`
	Heal      string     `json:"heal,omitempty"`
	Clock     *Clock     `json:"clock,omitempty"`
	Checks    []Check    `json:"checks,omitempty"`

	// Rejected says that the API server is expected to refuse the object of
	// apply, file or patch.
	Rejected bool `json:"rejected,omitempty"`

	// FromFile holds the objects of File, once they are loaded.
	FromFile Objects `json:"-"`
	// Skipped is true if When does not hold.
	Skipped bool `json:"-"`
}

// Manifests returns the objects of an apply or file step.
func (s Step) Manifests() Objects {
	if s.File != "" {
		return s.FromFile
	}
	return s.Apply
}

// Objects are API objects as written: one object, or a list.
type Objects []map[string]any

// StaticPod is a pod that a kubelet runs from a file, without an API server.
type StaticPod struct {
	// Node is the node's name.
	Node string `json:"node"`
	// Pod is the manifest. A file of that name that is there already is
	// replaced. The kubelet appends the node's name to the pod's.
	Pod map[string]any `json:"pod,omitempty"`
	// Remove is the name of a pod whose manifest is taken away, without the node's
	// name. Exactly one of Pod and Remove is set.
	Remove string `json:"remove,omitempty"`
}

// Patch changes an object by a JSON merge patch (RFC 7386).
type Patch struct {
	// Object is resource/name or resource/namespace/name.
	Object string         `json:"object"`
	Merge  map[string]any `json:"merge"`
}

// Restart starts a component, perhaps as something else than before.
type Restart struct {
	// Component is kube-apiserver, kube-controller-manager, kube-scheduler,
	// etcd or kubelet/<node>; in a garden also dependency-watchdog,
	// seed/kube-apiserver and seed/etcd. Of lease-nodes and those of a zone,
	// lease-nodes/<zone>, all is stopped and started, and nothing else.
	Component string `json:"component"`
	// Version is a release, "newest", "previous" or a minor version ("v1.36"). If unset, unchanged.
	Version release.Version `json:"version,omitempty"`
	// Gates are set on top of the gates of before.
	Gates release.Gates `json:"gates,omitempty"`
	// Unset are the gates of before that are no longer set to anything. A
	// rollback needs it: a component does not start with a gate set that its
	// release doesn't have.
	Unset []string `json:"unset,omitempty"`
}

// Wait is a condition that must come true before the next step.
type Wait struct {
	Until string `json:"until"`
	// Within is how long to wait. If unset, one minute.
	Within behavior.Duration `json:"within,omitempty"`
}

// Scrape reads the metrics of a component into the record.
type Scrape struct {
	// Component is kube-apiserver or kubelet/<node>.
	Component string `json:"component"`
	// Path is the endpoint. If unset, /metrics.
	Path string `json:"path,omitempty"`
}

// Log reads from the log of a component into the record.
type Log struct {
	// Component is the component, which may have ended.
	Component string `json:"component"`
	// Match is a regular expression (RE2). The lines that it matches are read.
	Match string `json:"match"`
}

// Cut cuts the link between a component and the API server.
type Cut struct {
	// From is who connects: kubelet/<node>, kube-controller-manager,
	// kube-scheduler, dependency-watchdog or lease-nodes, of which those of a zone
	// are lease-nodes/<zone>. The link of dependency-watchdog to the seed is
	// dependency-watchdog->seed/kube-apiserver, and that of a kubelet to its
	// container runtime, which can be slow, kubelet/<node>->runtime.
	From string `json:"from"`
	// How is drop, which loses what is sent, or reset, which ends connections. If
	// unset, drop.
	How record.Cut `json:"how,omitempty"`
	// Direction is forward, towards the API server, or backward. If unset, both.
	Direction record.Direction `json:"direction,omitempty"`
	// AfterBytes is how much of each connection passes before. If unset, nothing.
	AfterBytes int64 `json:"afterBytes,omitempty"`
}

// Fault is what is wrong with the link.
func (c Cut) Fault() record.LinkFault {
	return record.LinkFault{Cut: cmp.Or(c.How, record.CutDrop), Direction: c.Direction, AfterBytes: c.AfterBytes}
}

// Slow slows the link between a component and the API server.
type Slow struct {
	// From is the component, as in Cut.
	From string `json:"from"`
	// Delay is how much later everything arrives, Jitter by how much more it may
	// be. If unset, neither.
	Delay  behavior.Duration `json:"delay,omitempty"`
	Jitter behavior.Duration `json:"jitter,omitempty"`
	// BytesPerSecond is what passes in each connection. If unset, any amount.
	BytesPerSecond int64 `json:"bytesPerSecond,omitempty"`
	// Direction is as in Cut.
	Direction record.Direction `json:"direction,omitempty"`
}

// Fault is what is wrong with the link.
func (s Slow) Fault() record.LinkFault {
	return record.LinkFault{
		Delay: time.Duration(s.Delay), Jitter: time.Duration(s.Jitter),
		BytesPerSecond: s.BytesPerSecond, Direction: s.Direction,
	}
}

// Fault is what is wrong with the link.
func (a Answer) Fault() record.LinkFault {
	return record.LinkFault{
		Path: cmp.Or(a.Path, record.AnyPath), Status: a.Status,
		RetryAfter: time.Duration(a.RetryAfter), Delay: time.Duration(a.Delay),
	}
}

// Check is one thing that must hold.
type Check struct {
	ID string `json:"id"`
	// Requirement is the id of the ledger's statement that the check proves. If
	// unset, it proves none: a check of a user's own.
	Requirement string `json:"requirement,omitempty"`
	// Observe is a CEL expression over the record.
	Observe string `json:"observe"`
	// Is is the value that it must have. Exactly one of Is and Must is set.
	Is *any `json:"is,omitempty"`
	// Must is a CEL expression in which "it" is what was observed.
	Must string `json:"must,omitempty"`
	// Eventually, Always, Never and AtMost say when. At most one of them is
	// set. If all are unset, it must be so when the check begins.
	Eventually behavior.Duration `json:"eventually,omitempty"`
	Always     *Span             `json:"always,omitempty"`
	// Never is for how long it must not be so.
	Never *Span `json:"never,omitempty"`
	// AtMost bounds by how much a number grows. Is and Must are left out.
	AtMost *AtMost `json:"atMost,omitempty"`
	// When is a condition on the axes and on the releases that are in force. If
	// it doesn't hold, the check is left out. If unset, it is for all.
	When string `json:"when,omitempty"`
}

// AtMost bounds by how much a number that is observed grows within a time.
type AtMost struct {
	Times int `json:"times"`
	// For and Of are the time, as in Span.
	For string `json:"for"`
	Of  string `json:"of,omitempty"`
}

// Span is the time.
func (a AtMost) Span() Span { return Span{For: a.For, Of: a.Of} }

// span is how long a check is watched, with the field that says so. The field
// is empty if no field gives it a span.
func (c Check) span() (field string, span Span) {
	switch {
	case c.Always != nil:
		return "always", *c.Always
	case c.Never != nil:
		return "never", *c.Never
	case c.AtMost != nil:
		return "atMost", c.AtMost.Span()
	default:
		return "", Span{}
	}
}

// Span is a length of time, in seconds or in probe periods.
type Span struct {
	// For is a duration as in Go ("10s"), or a count of probe periods ("5
	// periods").
	For string `json:"for"`
	// Of is the container whose probe period counts: pod/container, or
	// namespace/pod/container. A Deployment or the like stands for its pods.
	// It goes with periods only.
	Of string `json:"of,omitempty"`
}
