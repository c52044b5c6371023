// Package plan turns scenarios into cells: numbered, typed steps with the
// releases and gates that are in force at each of them. It does no I/O; the
// same scenarios always give the same plan.
package plan

import (
	"slices"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
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
	Text     string // of the file
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

// What a plan has in common with its stored form.
type (
	Topology    = record.Topology
	NodeMonitor = record.NodeMonitor
	LeaseNodes  = record.LeaseNodes
	Zone        = record.Zone
	Garden      = record.Garden
	Dependent   = record.Dependent
	Node        = record.Node
	Component   = record.Component
	Mode        = record.Mode
)

// The modes of a check.
const (
	Now        = record.Now
	Eventually = record.Eventually
	Always     = record.Always
	Never      = record.Never
	AtMost     = record.AtMost
)

// Step is one numbered step.
type Step struct {
	// Number counts from 1; Name is the scenario's name for it, or the number.
	Number int
	Name   string
	Kind   string // the field of the scenario language: "apply", "cut"
	Line   int    // in the scenario's file
	// Run says whether the step is taken after something went wrong.
	Run    record.Run
	Action Action
	// Components is what runs, as which release and with which gates, once the
	// step is done. It is sorted by name.
	Components []Component
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
	Objects []map[string]any `json:"objects"`
	// File is the file that they were read from. Empty if they stand in the
	// scenario itself.
	File     string `json:"file,omitempty"`
	Rejected bool   `json:"rejected,omitempty"` // the API server is expected to refuse them
}

// Patch changes an object by a JSON merge patch.
type Patch struct {
	Object   ObjectRef      `json:"object"`
	Merge    map[string]any `json:"merge"`
	Rejected bool           `json:"rejected,omitempty"`
}

// StaticPod has a node's kubelet run a pod from a file.
type StaticPod struct {
	Node string         `json:"node"`
	Pod  map[string]any `json:"pod,omitempty"`
	// Remove is the name of a pod whose file is taken away. Empty: Pod is run.
	Remove string `json:"remove,omitempty"`
}

// Delete deletes an object.
type Delete struct {
	Object ObjectRef `json:"object"`
}

// ObjectRef names an API object.
type ObjectRef = spec.ObjectRef

// Restart stops a component, if it runs, and starts it, perhaps as something
// else than before.
type Restart struct {
	Component string          `json:"component"`
	Version   release.Version `json:"version,omitempty"` // empty: unchanged
	Gates     release.Gates   `json:"gates,omitempty"`   // on top of those of before
	Unset     []string        `json:"unset,omitempty"`   // gates of before that are no longer set
	// Stopped is true if the component is not running before the step.
	Stopped bool `json:"stopped,omitempty"`
}

// Stop ends a component.
type Stop struct {
	Component string `json:"component"`
	Kill      bool   `json:"kill,omitempty"` // without a warning
}

// Wait waits for a condition.
type Wait struct {
	Until  string            `json:"until"` // CEL
	Within behavior.Duration `json:"within"`
}

// Scrape reads the metrics of a component.
type Scrape struct {
	Component string `json:"component"`
	Path      string `json:"path"`
}

// Log reads the lines of a component's log that match.
type Log struct {
	Component string `json:"component"`
	Match     string `json:"match"`
}

// PodsAPI is what an agent on a node asks the node's Pods API.
type PodsAPI struct {
	Node   string            `json:"node"`
	Call   spec.PodsCall     `json:"call"`
	Pod    string            `json:"pod,omitempty"` // of get: this or UID
	UID    string            `json:"uid,omitempty"`
	Fields string            `json:"fields,omitempty"`
	Every  behavior.Duration `json:"every,omitempty"` // of poll
	Times  int               `json:"times,omitempty"` // of list and get; of watch, if it is only opened; or 0
	Pause  behavior.Duration `json:"pause,omitempty"` // of watch
	Of     string            `json:"of,omitempty"`    // of end: the name of the step that began it
}

// Fault gives a link to an API server a fault, or none.
type Fault struct {
	Link  spec.Link        `json:"link"`
	Fault record.LinkFault `json:"fault"`
}

// Clock sets the clock of a kubelet or of simulated nodes: to To, from now on, or by Step if that
// is not zero.
type Clock struct {
	Of   string            `json:"of"`
	To   clock.Clock       `json:"to"`
	Step behavior.Duration `json:"step,omitempty"`
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
type Checks struct {
	Checks []Check `json:"-"` // the step has them
}

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
