package narrate

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// Input is what a narration is made of.
type Input struct {
	// Result is the cell as the report has it. Of a cell that ran several times, the
	// outcome, the reason and the checks are those of the run.
	Result reports.Cell
	// Plan is the plan as it was printed when the cell ran. If unset, it is not known.
	Plan string
	// Leases are what the plan says of leases. If unset, the plan is not known.
	Leases LeasePlan
	// Events are the cell's history.
	Events []record.Event
	// Attempts are the connections in the history, with what the model predicts.
	Attempts []reports.Attempt
	// Parts are the parts of the expressions of checks that do not hold, by the check's
	// id. They say what was observed in What, and its value in Text.
	Parts map[string][]Line
	// Logs are those of the components. Where Failures finds nothing, none is needed.
	Logs []LogFile
	// Limit is how long the narration may be as JSON, in bytes. If unset,
	// DefaultLimit. Steps, checks and lives of components are there whatever it is.
	Limit int
}

// DefaultLimit is how long a narration may be that does not say, in bytes.
const DefaultLimit = 64 << 10

// Of returns the narration of a cell. It takes values and returns values; the same
// ones always make the same narration.
func Of(in Input) Narration {
	b := newBuilder(in)
	for _, e := range in.Events {
		b.add(e)
	}
	return b.limited(cmp.Or(in.Limit, DefaultLimit))
}

// builder follows a history.
type builder struct {
	in       Input
	timeline *timeline.Timeline // as far as events were added
	began    time.Time
	end      float64         // of the history
	over     float64         // of the last step: what ends after it ends with the rig
	real     map[string]bool // the nodes that have kubelets

	steps      steps
	components lanes
	links      lanes
	nodes      nodes
	pods       pods
	workloads  workloads
	leases     leases
	watchdog   watchdog
	podsAPI    podsClients
	objects    objects
}

func newBuilder(in Input) *builder {
	b := &builder{
		in: in, timeline: timeline.New(), real: make(map[string]bool), steps: newSteps(),
		objects: newObjects(in), leases: newLeases(in.Leases), watchdog: newWatchdog(in),
	}
	if len(in.Events) > 0 {
		b.began = in.Events[0].At
		b.end = b.at(in.Events[len(in.Events)-1].At)
	}
	b.over = b.end
	for _, e := range slices.Backward(in.Events) {
		if e.Kind == (record.StepDone{}).EventKind() {
			b.over = b.at(e.At)
			break
		}
	}
	for _, e := range in.Events {
		if node, is := strings.CutPrefix(e.Subject, "kubelet/"); is && e.Kind == (record.ComponentStarted{}).EventKind() {
			b.real[node] = true
		}
		b.objects.asked(e) // the answer may come after the object
	}
	return b
}

// at is a time in the narration, to the millisecond. What was before it is its
// beginning.
func (b *builder) at(when time.Time) float64 {
	return max(0, math.Round(when.Sub(b.began).Seconds()*1e3)/1e3)
}

// add takes an event into account.
func (b *builder) add(e record.Event) {
	at := b.at(e.At)
	b.timeline.Add(e)
	b.steps.add(e, at)
	b.component(e, at)
	b.link(e, at)
	b.pods.add(b, e, at)
	b.podsAPI.add(e, at)
	b.leases.add(e, at)
	b.watchdog.add(e, at)
	if e.Kind == (record.ObjectObserved{}).EventKind() {
		b.observed(e, at)
	}
}

// observed takes an object into account.
func (b *builder) observed(e record.Event, at float64) {
	if strings.HasPrefix(e.Subject, "events/") {
		all := b.timeline.Happenings
		if last := len(all) - 1; last >= 0 && all[last].Place == len(b.timeline.Events)-1 {
			news := newsOf(all[last], at)
			b.pods.news(news)
			b.nodes.news(news)
			b.workloads.news(news)
		}
		return
	}
	if strings.HasPrefix(e.Subject, "nodes/") {
		b.watchdog.nodesAre(b.timeline.Nodes, at)
	}
	seen, ok := b.decode(at)
	switch {
	case !ok:
		return
	case seen.Cluster != "":
		b.watchdog.deployment(seen)
	case seen.Resource == "nodes":
		b.nodes.add(seen)
	case seen.Resource == "pods":
		b.pods.observed(seen)
	case seen.Resource == "leases":
		b.leases.observed(seen)
		return
	default:
		b.workloads.add(seen)
	}
	b.objects.add(seen, b.steps.number)
}

// lanes are all lanes, in the order in which they are shown. A cell that asks a Pods
// API is about the answers: they come first.
func (b *builder) lanes(probes map[string][]Lane) []Lane {
	return slices.Concat(
		b.podsAPI.until(b.end), b.components.until(b.end), b.links.until(b.end), b.watchdog.lanes(b.end),
		b.leases.lanes(b.end), b.nodes.lanes.until(b.end), b.workloads.lanes.until(b.end), b.pods.lanes(b.end, probes),
	)
}

func length(n Narration) int {
	text, _ := json.Marshal(n) // texts and finite numbers can be encoded
	return len(text)
}
