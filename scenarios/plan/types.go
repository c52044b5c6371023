// Package plan turns scenarios into cells: numbered, typed steps with the
// releases and gates that are in force at each of them. It does no I/O; the
// same scenarios always give the same plan.
package plan

import (
	"slices"
	"time"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Cell is one combination of a scenario's axes: what runs on one rig.
type Cell struct {
	// ID is the scenario's id followed by <axis>:<value> for each axis.
	ID       string
	Scenario string // the scenario's id
	Area     string // the id's first segment, such as "kep-4939"
	Title    string
	Control  string // the scenario that is the negative control, if there is one
	File     string
	Axes     []AxisValue
	Topology Topology
	Images   []spec.Image
	Steps    []Step

	// Places are where the file asks for each release first, as
	// file:line:column.
	Places map[release.Version]string
}

// AxisValue is the value that a cell has on one axis.
type AxisValue struct{ Name, Value string }

// Topology is the rig of a cell, with every release resolved.
type Topology struct {
	Version           release.Version // of the control plane
	Gates             map[string]bool
	ControllerManager bool
	Scheduler         bool
	NodeMonitor       NodeMonitor
	Nodes             []Node
	LeaseNodes        *LeaseNodes // nil: none
	Garden            *Garden     // nil: the rig is on its own
	// Links are those that the cell's steps cut or slow down.
	Links []spec.Link
}

// NodeMonitor is how the controller manager looks after nodes: zero is what the
// release does.
type NodeMonitor struct{ Period, Grace time.Duration }

// LeaseNodes are simulated nodes, with the times of this rig.
type LeaseNodes struct {
	Zones              []Zone // one without a name if there are none
	Duration, Interval time.Duration
	// Timeout is how long a node waits for an answer, Status how often it looks
	// whether somebody disputes that it is ready, Report how often it says so.
	Timeout, Status, Report time.Duration
	// Offset is how far the clocks are ahead from the beginning.
	Offset time.Duration
	Seed   uint64
}

// Zone is simulated nodes in one place.
type Zone struct {
	Name  string
	Count int
}

// Garden is what makes a rig a shoot.
type Garden struct {
	Watchdog release.Version // empty: none
	// Prober is the watchdog's configuration, with the times of this rig.
	Prober     spec.Prober
	Dependents []Dependent // sorted by name
	Shoot      map[string]any
}

// Dependent is a Deployment of the shoot's control plane.
type Dependent struct {
	Name     string
	Replicas int32
}

// Node is a node of the rig.
type Node struct {
	Name    string
	Version release.Version
	Gates   map[string]bool
	// OwnClock is true if the cell's steps set the clock of its kubelet.
	OwnClock bool
	// Standalone is a kubelet without an API server.
	Standalone bool
}

// Step is one numbered step.
type Step struct {
	// Number counts from 1; Name is the scenario's name for it, or the number.
	Number int
	Name   string
	Line   int // in the scenario's file
	// Run says whether the step is taken after something went wrong.
	Run    spec.Run
	Action Action
	// Components is what runs, as which release and with which gates, once the
	// step is done. It is sorted by name.
	Components []Component
}

// Component is a component as it is in force at a step.
type Component struct {
	Name    string
	Version release.Version
	Gates   map[string]bool
}

// setsClockOf reports whether a step sets the clock of a kubelet.
func setsClockOf(steps []Step, node string) bool {
	return slices.ContainsFunc(steps, func(s Step) bool {
		set, is := s.Action.(Clock)
		return is && set.Of == kubeletPrefix+node
	})
}

// Action is what a step does: one of the types below.
type Action interface {
	// Describe says it in one line.
	Describe() string
}

// Apply creates objects.
type Apply struct {
	Objects []map[string]any
	// File is the file that they were read from. Empty if they stand in the
	// scenario itself.
	File     string
	Rejected bool // the API server is expected to refuse them
}

// Patch changes an object by a JSON merge patch.
type Patch struct {
	Object   ObjectRef
	Merge    map[string]any
	Rejected bool
}

// StaticPod has a node's kubelet run a pod from a file.
type StaticPod struct {
	Node string
	Pod  map[string]any
	// Remove is the name of a pod whose file is taken away. Empty: Pod is run.
	Remove string
}

// Delete deletes an object.
type Delete struct{ Object ObjectRef }

// ObjectRef names an API object.
type ObjectRef = spec.ObjectRef

// Restart stops a component, if it runs, and starts it, perhaps as something
// else than before.
type Restart struct {
	Component string
	Version   release.Version // empty: unchanged
	Gates     map[string]bool // on top of those of before
	Unset     []string        // gates of before that are no longer set
	// Stopped is true if the component is not running before the step.
	Stopped bool
}

// Stop ends a component.
type Stop struct {
	Component string
	Kill      bool // without a warning
}

// Wait waits for a condition.
type Wait struct {
	Until  string // CEL
	Within time.Duration
}

// Scrape reads the metrics of a component.
type Scrape struct{ Component, Path string }

// Log reads the lines of a component's log that match.
type Log struct{ Component, Match string }

// PodsAPI is what an agent on a node asks the node's Pods API.
type PodsAPI struct {
	Node     string
	Call     spec.PodsCall
	Pod, UID string // of get: one of them
	Fields   string
	Every    time.Duration // of poll
	Times    int           // of list and get; of watch, if it is only opened; or 0
	Pause    time.Duration // of watch
	Of       string        // of end: the name of the step that began it
}

// Fault gives a link to an API server a fault, or none.
type Fault struct {
	Link  spec.Link
	Fault record.LinkFault
}

// Clock sets the clock of a kubelet or of simulated nodes: to To, from now on, or by Step if that
// is not zero.
type Clock struct {
	Of   string
	To   clock.Clock
	Step time.Duration
}

// From is To with the time from which it drifts, or stands still.
func (c Clock) From(now time.Time) clock.Clock {
	to := c.To
	if to != (clock.Clock{Offset: to.Offset}) {
		to.Since = now
	}
	return to
}

// Checks watches checks, all at the same time.
type Checks struct{ Checks []Check }

// Check is one thing that must hold.
type Check struct {
	ID, Requirement string
	Observe         string // CEL
	// Is is the wanted value, if Must is empty; Must is CEL with "it" bound to
	// what was observed.
	Is   any
	Must string
	Line int

	Mode Mode
	// Span is how long to watch: the deadline of Eventually, the length of
	// Always, Never and AtMost, zero for Now.
	Span time.Duration
	// Times is by how much the number may grow, for AtMost.
	Times int
}

// Mode says when a check must hold.
type Mode string

// The modes of a check.
const (
	Now        Mode = "now"
	Eventually Mode = "eventually"
	Always     Mode = "always"
	Never      Mode = "never"
	AtMost     Mode = "at most"
)
