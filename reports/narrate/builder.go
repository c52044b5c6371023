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
func Of(in Input) Narration { return newBuilder(in).limited(cmp.Or(in.Limit, DefaultLimit)) }

// builder asks the timeline of a cell for what is shown.
type builder struct {
	*timeline.Timeline

	in    Input
	began time.Time
	end   float64 // of the history
	over  float64 // of the last step: what ends after it ends with the rig

	steps     []Step
	checks    []Check
	nodes     nodes
	pods      pods
	workloads workloads
	leases    leases
	watchdog  watchdog
	objects   objects
}

func newBuilder(in Input) *builder {
	b := &builder{Timeline: timeline.New(), in: in, leases: newLeases(in.Leases), watchdog: newWatchdog(in)}
	if len(in.Events) > 0 {
		b.began = in.Events[0].At
		b.end = b.at(in.Events[len(in.Events)-1].At)
	}
	for _, e := range in.Events {
		b.Add(e)
		if strings.HasPrefix(e.Subject, "nodes/") {
			b.watchdog.nodesAre(b.Nodes, b.at(e.At))
		}
	}
	b.over = b.end
	for _, s := range slices.Backward(b.Steps) {
		if s.Done != nil {
			b.over = b.at(s.To.Time)
			break
		}
	}
	b.steps, b.checks, b.objects = b.taken(), b.windows(), newObjects(b)
	b.pods.ran(b)
	for _, e := range in.Events {
		b.leases.add(e, b.at(e.At))
	}
	for _, v := range b.Versions {
		if !v.Static() {
			b.observed(v)
		}
	}
	for _, h := range b.Happenings {
		news := newsOf(h, b.at(h.Time))
		b.pods.news(news)
		b.nodes.news(news)
		b.workloads.news(news)
	}
	for _, e := range in.Events {
		b.watchdog.add(e, b.at(e.At)) // its requests scale Deployments that were seen
	}
	return b
}

// at is a time in the narration, to the millisecond. What was before it is its
// beginning.
func (b *builder) at(when time.Time) float64 {
	return max(0, math.Round(when.Sub(b.began).Seconds()*1e3)/1e3)
}

// observed takes an object into account, unless it is not shown: of simulated nodes
// there are thousands.
func (b *builder) observed(v *timeline.Version) {
	if node, is := strings.CutPrefix(v.Key, "nodes/"); is && len(b.Lives("kubelet/"+node)) == 0 && !b.objects.wants(v.Key) {
		return
	}
	seen := observed{Version: v, at: b.at(v.Time), body: v.Fields()}
	switch {
	case seen.body == nil:
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
	b.objects.add(seen, b.StepAt(v.Place))
}

// lanes are all lanes, in the order in which they are shown. A cell that asks a Pods
// API is about the answers: they come first.
func (b *builder) lanes(probes map[string][]Lane) []Lane {
	return slices.Concat(
		b.podsAPI(), b.lives(), b.links(), b.watchdog.lanes(b.end),
		b.leases.lanes(b.end), b.nodes.lanes.until(b.end), b.workloads.lanes.until(b.end), b.pods.lanes(b.end, probes),
	)
}

func length(n Narration) int {
	text, _ := json.Marshal(n) // texts and finite numbers can be encoded
	return len(text)
}
