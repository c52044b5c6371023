// Package story tells what happened in a cell, for a reader who was not there:
// it makes a reports/story out of the cell's plan, its history, how it came out,
// and its logs. It takes values and returns values; the same ones always make
// the same story.
package story

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Input is what a story is made of.
type Input struct {
	// Cell is the cell as it was planned. If only its ID is set, nothing is said of
	// what was to be expected.
	Cell plan.Cell
	// Result is how the cell came out.
	Result reports.Cell
	// Plan is the plan as it was printed when the cell ran. If unset, it is printed
	// now.
	Plan string
	// Events are the cell's history.
	Events []record.Event
	// Logs are those of the components. Where Trouble finds nothing, none is
	// needed.
	Logs []Log
	// Budget is how long the story may be as JSON, in bytes. If unset,
	// DefaultBudget. Steps, checks and what became of components are told whatever
	// it is.
	Budget int
}

// DefaultBudget is how long a story may be that does not say, in bytes.
const DefaultBudget = 64 << 10

// Of tells the story of a cell.
func Of(in Input) story.Story {
	t := newTeller(in)
	for _, e := range in.Events {
		t.saw(e)
	}
	return t.fitting(t.whole())
}

// teller follows a history.
type teller struct {
	in    Input
	began time.Time
	end   float64         // of the history
	over  float64         // of the last step: what ends after it ends with the rig
	real  map[string]bool // the nodes that have kubelets

	course     course
	components lanes
	links      lanes
	nodes      nodes
	pods       pods
	workloads  workloads
	leases     leases
	agents     agents
	objects    objects
	said       counts

	concerns func(story.Attempt) bool // whether a check that does not hold is about an attempt
}

func newTeller(in Input) *teller {
	t := &teller{
		in: in, real: make(map[string]bool), said: make(counts), course: newCourse(),
		objects: newObjects(in.Cell), leases: newLeases(in.Cell),
	}
	if len(in.Events) > 0 {
		t.began = in.Events[0].At
		t.end = t.at(in.Events[len(in.Events)-1].At)
	}
	t.over = t.end
	for _, e := range slices.Backward(in.Events) {
		if e.Kind == (record.StepDone{}).EventKind() {
			t.over = t.at(e.At)
			break
		}
	}
	for _, e := range in.Events {
		if node, is := strings.CutPrefix(e.Subject, "kubelet/"); is && e.Kind == (record.ComponentStarted{}).EventKind() {
			t.real[node] = true
		}
		t.objects.asked(e) // the answer may come after the object
	}
	return t
}

// at is a time in the story, to the millisecond. What was before it is its
// beginning.
func (t *teller) at(when time.Time) float64 {
	return max(0, math.Round(when.Sub(t.began).Seconds()*1e3)/1e3)
}

// saw takes an event into account.
func (t *teller) saw(e record.Event) {
	at := t.at(e.At)
	t.course.saw(e, at)
	t.component(e, at)
	t.link(e, at)
	t.pods.saw(t, e, at)
	t.agents.saw(e, at)
	t.leases.saw(e, at)
	if e.Kind == (record.ObjectObserved{}).EventKind() {
		t.observed(e, at)
	}
}

// observed takes an object into account.
func (t *teller) observed(e record.Event, at float64) {
	if strings.HasPrefix(e.Subject, "events/") {
		if what, is := t.said.happened(e, at); is {
			t.pods.told(what)
			t.nodes.told(what)
			t.workloads.told(what)
		}
		return
	}
	seen, ok := t.decode(e, at)
	switch {
	case !ok:
		return
	case seen.Cluster != "": // its Deployments have a lane of the watchdog's
	case seen.Resource == "nodes":
		t.nodes.saw(seen)
	case seen.Resource == "pods":
		t.pods.observed(seen)
	case seen.Resource == "leases":
		t.leases.observed(seen)
		return
	default:
		t.workloads.saw(seen)
	}
	t.objects.saw(seen, t.course.step)
}

// whole is the story as it is told where there is room, but for its objects.
func (t *teller) whole() story.Story {
	t.course.close(t.end)
	t.explain()
	attempts, probes := t.attempts()
	s := story.Story{
		Cell: t.in.Cell.ID, Began: t.began.UTC(), Seconds: t.end, Plan: t.printed(),
		Steps: t.course.steps, Checks: t.course.checks, Attempts: attempts,
		Logs: t.logs(maxLogLines),
	}
	// A cell in which somebody asks a Pods API is about the answers: they come first.
	s.Lanes = slices.Concat(
		t.agents.until(t.end), t.components.until(t.end), t.links.until(t.end), t.garden(),
		t.leases.lanes(t.end), t.nodes.lanes.until(t.end), t.workloads.lanes.until(t.end),
		t.pods.lanes(t.end, probes),
	)
	return s
}

func (t *teller) printed() string {
	if t.in.Plan != "" || len(t.in.Cell.Steps) == 0 {
		return t.in.Plan
	}
	return plan.Print(t.in.Cell)
}
