// Package plan turns scenarios into cells: numbered, typed steps with the
// releases and gates that are in force at each of them. It does no I/O; the
// same scenarios always give the same plan.
package plan

import (
	"slices"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
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
	Axes     map[string]string
	// Cells is how many the scenario has, this one among them.
	Cells int
	// With is the id of the cell with which it is compared, as Compare says. If unset, it is
	// compared with none.
	With    string
	Compare *spec.Compare
	// CompareLine is where the file says so.
	CompareLine int

	Topology record.Topology
	Images   []spec.Image
	Steps    []Step

	// Uses is what the steps name of Kubernetes, and where.
	Uses spec.Uses
	// Places are where the file asks for each release first, as
	// file:line:column.
	Places map[release.Version]string
	// FlagPlaces are where the file gives flags first, by "<program> <flag>".
	FlagPlaces map[string]string
	// Outside are what the file has that reaches beyond the rig.
	Outside []Outside
	// Unfit says why the releases can't run it: a rule of the version skew policy, or a feature gate that one
	// lacks. If unset, they can. The rest of a cell that does not fit may lack something.
	Unfit string
}

// Step is one numbered step.
type Step struct {
	// Number counts from 1; Name is the scenario's name for it, or the number.
	Number int
	Name   string
	Kind   string // the field of the scenario language: "apply", "cut"
	Line   int    // in the scenario's file
	// Run says whether the step is taken after something went wrong.
	Run record.Run
	// Via is the API server that is asked, where they have names. If unset, the first one.
	Via string
	// Refusable is true if the cell continues whatever an API server answers.
	Refusable bool
	Action    action.Action
	// Components is what runs, as which release and with which gates, once the
	// step is done. It is sorted by name.
	Components []record.Component
}

// setsClockOf reports whether a step sets the clock of a kubelet.
func setsClockOf(steps []Step, node string) bool {
	return slices.ContainsFunc(steps, func(s Step) bool {
		facts := s.Action.Facts()
		return facts.Needs == action.NeedsClocks && facts.Component == spec.KubeletPrefix+node
	})
}

// Checks are the checks that are watched during the step.
func (s Step) Checks() []action.Check { return s.Action.Facts().Checks }
