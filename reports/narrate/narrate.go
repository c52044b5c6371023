// Package narrate makes of the record of one cell what a reader wants to see of it:
// lanes on one axis of time, each attempt of each probe with its bytes, objects as they
// changed, and what the logs say around a failure. It knows nothing of scenarios: what
// checks, oracles and plans have to say, its callers hand in as values.
//
// All times are seconds since the narration began.
package narrate

import (
	"time"

	"github.com/skewrig/skewrig/reports"
)

// Narration is what happened in a cell.
type Narration struct {
	// Cell is the cell's id.
	Cell string `json:"cell"`
	// Began is when the first thing happened: second 0.
	Began time.Time `json:"began"`
	// Seconds is how long it took.
	Seconds float64 `json:"seconds"`
	// Plan is the plan as it was printed, and PlanLines are its lines that stand for steps and checks.
	Plan      string     `json:"plan,omitempty"`
	PlanLines []PlanLine `json:"planLines,omitempty"`
	// Steps are in their order. Those that were left out are not there.
	Steps []Step `json:"steps,omitempty"`
	// Checks are in the order in which they were opened.
	Checks []Check `json:"checks,omitempty"`
	// Lanes are in the order in which they are to be shown.
	Lanes []Lane `json:"lanes,omitempty"`
	// Attempts are all that containers were asked, by probes or others, in time.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Objects are those of the API server that the cell is about, by key. What the checks that
	// do not hold are about comes first.
	Objects []Object `json:"objects,omitempty"`
	// Logs are what the components said around what went wrong. If nothing
	// did, there are none.
	Logs []Log `json:"logs,omitempty"`
	// About are what logs are searched for: the names of what the checks that do not hold
	// are about. If unset, they name nothing.
	About []string `json:"about,omitempty"`
	// Rig says what the rig was made of, as the plan has it: releases, gates, and how what
	// matters was configured.
	Rig []string `json:"-"`
	// SetUp are the lines of the plan about the rig, and about what its fake servers answer.
	SetUp []string `json:"-"`
	// SimulatedNodes is how many nodes have no kubelet: only their leases are renewed.
	SimulatedNodes int `json:"-"`
	// Omitted says what was left out to save space, and where it can be read.
	Omitted []string `json:"omitted,omitempty"`
}

// Step is a step of the plan that was taken.
type Step struct {
	// Number is the step's in the plan, from 1.
	Number int `json:"number"`
	// Name is what expressions call it.
	Name string `json:"name,omitempty"`
	// Action is what it did, in the plan's words.
	Action string `json:"action"`
	// Acts is false of a step that only waits, or looks.
	Acts bool    `json:"acts,omitempty"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// Error is why it could not be done. If unset, it was.
	Error string `json:"error,omitempty"`
	// Answers are what was answered to its requests, or found by it: "created
	// pods/default/web", "422 Invalid". If unset, it asked for nothing.
	Answers []Line `json:"answers,omitempty"`
}

// Check is when a check was evaluated. Its outcome is in the report.
type Check struct {
	// ID is the check's in its cell.
	ID string `json:"id"`
	// Step is the number of the step that opened it.
	Step int     `json:"step"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// Summary is what came of it in time: "came true after 3.2 s; the window was 90 s".
	// If unset, there is nothing to say but when it was.
	Summary string `json:"summary,omitempty"`
	// Cause is what keeps the check from holding, in a sentence: what it compared, and what
	// that was. Only a check that does not hold has one. If unset, nothing is known but its
	// value.
	Cause string `json:"cause,omitempty"`
	// Because is what led to it, in sentences: what probes, pods, the watchdog or a Pods API
	// did, and what the scenario did before.
	Because []string `json:"because,omitempty"`
	// Models are the oracles that compare what the check looks at with a model of the release's code.
	Models []string `json:"models,omitempty"`
	// Same is the check before it that does not hold for the same failure. If unset, none does.
	Same string `json:"same,omitempty"`
	// Parts are parts of what was observed, in What, with their values at To. Only a
	// check that does not hold has them, and whose value is only true or false.
	Parts []Line `json:"parts,omitempty"`
	// Bad is when what was observed got the value that it had when the check was decided,
	// if that was before; of a field that left its value, when it did. If unset, it was not, or
	// is not known.
	Bad float64 `json:"bad,omitempty"`
	// History is the history of the field that the check is about, if it is about one: its
	// values in Text, and in What who served or wrote them. Where an API server is proven to have
	// lost it, a line is Bad; where it was changed otherwise, Changed.
	History []Line `json:"history,omitempty"`
	// Named is what the expressions of the check name.
	Named reports.Names `json:"-"`
	// Led are the steps that led to what a check found that does not hold: those that changed
	// components, links or clocks, or wrote an object that it is about; and what components did
	// by themselves. After are those that wrote such an object once it was decided.
	Led   []Line `json:"-"`
	After []Line `json:"-"`
	// Probes are the probes of the containers that such a check is about, as JSON.
	Probes []Line `json:"-"`
	// Tally is how many of the attempts failed that such a check is about.
	Tally Tally `json:"-"`
	// Seen is what was seen of the objects that such a check counts, the first and the last of
	// many.
	Seen []Line `json:"-"`
	// Field is the field of an object that the check compares, as logs name it. If unset, it
	// compares none, or holds.
	Field string `json:"-"`
}

// Kind says what a lane is about.
type Kind string

// The kinds of lanes.
const (
	// Component is a process: an API server, a kubelet, a watchdog.
	Component Kind = "component"
	// Container is a container of a pod.
	Container Kind = "container"
	// Probe is a probe of a container: its attempts.
	Probe Kind = "probe"
	// Link is a way between two components.
	Link Kind = "link"
	// Agent is a client of the kubelet's Pods API.
	Agent Kind = "agent"
	// Leases are those of simulated nodes.
	Leases Kind = "leases"
	// ObjectState is an object of the API server, such as a pod's readiness.
	ObjectState Kind = "object"
)

// Tone says how something is to look.
type Tone string

// The tones. The zero value is neutral.
const (
	Good    Tone = "good"
	Bad     Tone = "bad"
	Changed Tone = "changed" // a restart, another version, other gates
	Faulty  Tone = "faulty"  // a fault that the scenario asked for
	Warned  Tone = "warned"  // a warning, or a failure that no check is about that does not hold
)

// wrong reports whether something went wrong, whether or not a check is about it.
func (t Tone) wrong() bool { return t == Bad || t == Warned }

// Lane is a row of the timeline.
type Lane struct {
	// Name is unique among the lanes of a kind: "kubelet/node-a",
	// "default/web/app", "kubelet/node-a->kube-apiserver".
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// Group is what lanes have in common that are to be shown together: the pod
	// "default/web on node-a". If unset, the lane is in no group.
	Group string `json:"group,omitempty"`
	Spans []Span `json:"spans,omitempty"`
	Marks []Mark `json:"marks,omitempty"`
	// Series are numbers over time, such as the ages of leases in seconds. A page
	// draws them as lines, above the spans. All have the same unit.
	Series []Series `json:"series,omitempty"`
	// Limits are what the numbers of Series are held against.
	Limits []Limit `json:"limits,omitempty"`
}

// Series is a number over time.
type Series struct {
	Label string `json:"label"`
	// Points are times with the number at each, in time.
	Points [][2]float64 `json:"points"`
}

// Limit is a number that means something to a component.
type Limit struct {
	Value float64 `json:"value"`
	Label string  `json:"label"`
}

// Span is something that lasted.
type Span struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// Label is a few words, such as a version. Detail is more, and may have lines.
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
	Tone   Tone   `json:"tone,omitempty"`
}

// Mark is something that happened at a moment.
type Mark struct {
	At     float64 `json:"at"`
	Label  string  `json:"label"`
	Detail string  `json:"detail,omitempty"`
	Tone   Tone    `json:"tone,omitempty"`
	// Attempt is the position in Attempts that the mark stands for, from 1. If
	// unset, none.
	Attempt int `json:"attempt,omitempty"`
}

// Attempt is what a container was asked once: a connection with what came over
// it, or a connection that never was.
type Attempt struct {
	At   float64 `json:"at"`
	Took float64 `json:"took"`
	// Container is namespace/pod/container.
	Container string `json:"container"`
	// Probed is the container whose probe it was, if that is another one.
	Probed string `json:"probed,omitempty"`
	// Follows is the position in Attempts, from 1, of the one that was redirected to this
	// one. If unset, none.
	Follows int `json:"follows,omitempty"`
	// By is what asked: the probe ("readiness grpc :8080"), or what else is known.
	By string `json:"by"`
	// Expected is what the model of a release expects, where there is one.
	Expected string `json:"expected,omitempty"`
	// Observed is what was seen, in a few words.
	Observed string `json:"observed"`
	Tone     Tone   `json:"tone,omitempty"`
	// Wire is what went over the wire, decoded, in order.
	Wire []Line `json:"wire,omitempty"`
	// Like is the position in Attempts, from 1, of an earlier one over whose wire
	// went the same, but for addresses, times, numbers of bytes, and who was first
	// to close. Then Wire has only the lines with those, as WireOf says. If unset, none.
	Like int `json:"like,omitempty"`
	// LeftOut is true if what went over the wire was left out to save space. The
	// cell's history has it.
	LeftOut bool `json:"leftOut,omitempty"`
}

// WireOf is what went over the wire of an attempt. The lines that one has in common with an
// earlier one have no time.
func (n *Narration) WireOf(a Attempt) (lines []Line) {
	if a.Like == 0 || a.Like > len(n.Attempts) {
		return a.Wire
	}
	own := a.Wire
	for _, l := range n.Attempts[a.Like-1].Wire {
		if len(own) > 0 && own[0].What == l.What {
			l, own = own[0], own[1:]
		} else {
			l.At = 0
		}
		lines = append(lines, l)
	}
	return lines
}

// Line is a line of a log, or of a wire log.
type Line struct {
	// At is when, if that is known.
	At float64 `json:"at,omitempty"`
	// What is a few words for what it is: "TLS ClientHello", "HTTP/2 preface". In a
	// log, it is empty, or why the line is one of the rig's own, or why it is shown.
	What string `json:"what,omitempty"`
	Text string `json:"text"`
	// Whole is all of Text, of a line that is too long for a list. If unset, it is Text.
	Whole string `json:"whole,omitempty"`
	Tone  Tone   `json:"tone,omitempty"`
	// Within is how many seconds after At it may have been, of a line whose time is
	// known to the second.
	Within float64 `json:"within,omitempty"`
	// More is how many lines of a log that say the same, but for numbers and ids, the
	// line stands for beside itself.
	More int `json:"more,omitempty"`
	// Named is true for a line of a log that names what a check that does not hold is
	// about, such as its pod.
	Named bool `json:"named,omitempty"`
}

// Object is an object as it changed. Versions that differ in nothing but their
// resource version, or in when a node was heard of, are one.
type Object struct {
	// Key is resource/namespace/name, or resource/name.
	Key      string    `json:"key"`
	Versions []Version `json:"versions"`
}

// Version is a state of an object.
type Version struct {
	At float64 `json:"at"`
	// Step is the number of the step that was being taken.
	Step int `json:"step"`
	// Change is added, modified, deleted or unserved.
	Change string `json:"change"`
	// YAML is the object, without what only the API server needs (managedFields).
	// Of a deleted one it is empty.
	YAML string `json:"yaml,omitempty"`
}

// Log is what a component said.
type Log struct {
	Component string `json:"component"`
	// Path is the file, below the report's directory.
	Path  string `json:"path"`
	Lines []Line `json:"lines"`
	// Silent says that the component logs nothing of nodes that became Unknown; Nodes is how
	// they changed, from the record. If unset, no check is about that, or the log names them.
	Silent string `json:"silent,omitempty"`
	Nodes  []Line `json:"nodes,omitempty"`
	// Rig are lines that come of how the rig is made, each with the reason in What.
	Rig []Line `json:"rig,omitempty"`
	// Omitted says how many other lines the file has, and why they are not here.
	Omitted []string `json:"omitted,omitempty"`
}
