package narrate

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// Input is what a narration is made of.
type Input struct {
	// Result is the cell as the report has it. Of a cell that ran several times, the
	// outcome, the reason and the checks are those of the run.
	Result reports.Cell
	// Printed is the plan as it was printed when the cell ran, and Plan the plan as data. If unset, it is
	// not known.
	Printed string
	Plan    record.Plan
	// Leases are what the plan says of leases. If unset, the plan is not known.
	Leases LeasePlan
	// Events are the cell's history.
	Events []record.Event
	// Attempts are the connections in the history, with what the model predicts.
	Attempts []reports.Attempt
	// Parts are the parts of the expressions of checks that do not hold, by the check's
	// id. They say what was observed in What, and its value in Text.
	Parts map[string][]Line
	// Compared are the comparisons because of which checks do not hold, by the check's id.
	Compared map[string][]Compared
	// Named is what the checks name, by the check's id.
	Named map[string]reports.Names
	// Logs reads those of the components. It is called if anything went wrong. If unset,
	// there are none.
	Logs func() []LogFile
	// Limit is how long the narration may be as JSON, in bytes. If unset, 64 KiB.
	// Steps, checks and lives of components are there whatever it is.
	Limit int
}

// checkIDs are the ids of the cell's checks.
func (in Input) checkIDs() (ids []string) {
	return reports.Each(in.Result.Checks, func(c reports.Check) string { return c.ID })
}

// simulatedNodes is how many nodes the plan has that have no kubelet.
func (in Input) simulatedNodes() (n int) {
	if nodes := in.Plan.Topology.LeaseNodes; nodes != nil {
		for _, z := range nodes.Zones {
			n += z.Count
		}
	}
	return n
}

// defaultLimit is how long a narration may be that does not say, in bytes.
const defaultLimit = 64 << 10

// Of returns the narration of a cell. It takes values and returns values; the same
// ones always make the same narration.
func Of(in Input) Narration { return newBuilder(in).limited(cmp.Or(in.Limit, defaultLimit)) }

// builder asks the timeline of a cell for what is shown.
type builder struct {
	*timeline.Timeline

	in    Input
	began time.Time
	end   float64 // of the history
	over  float64 // of the last step: what ends after it ends with the rig

	failures []float64             // when something went wrong
	logFiles []LogFile             // if anything did
	clocks   map[string][]clockSet // of components, in order
	uids     map[types.UID]string  // the keys of objects; nil until one is asked for

	steps      []Step
	checks     []Check
	execs      []attempt
	agents     lanes // clients of Pods APIs
	components lanes
	leases     leases
	watchdog   watchdog
	nodes      lanes
	workloads  workloads
	pods       pods
	objects    objects
}

func newBuilder(in Input) *builder {
	b := &builder{Timeline: timeline.Of(in.Events), in: in, leases: leases{plan: in.Leases}, watchdog: watchdog{plan: in.Leases, skewed: in.Leases.Clocks != ""}, clocks: make(map[string][]clockSet)}
	if len(in.Events) > 0 {
		b.began = in.Events[0].At
		b.end = b.at(in.Events[len(in.Events)-1].At)
	}
	b.over = b.end
	for _, s := range slices.Backward(b.Steps) {
		if s.Done != nil {
			b.over = b.at(s.To.Time)
			break
		}
	}
	b.checks, b.objects = b.windows(), newObjects(b)
	for e := range b.Entries() {
		b.rig(e, b.at(e.Time))
		b.watchdog.event(e, b.at(e.Time))
		b.asked(e, b.at(e.Time))
		b.pods.add(e, b.at(e.Time))
	}
	b.ran()
	for _, when := range failures(in.Result, b.Timeline) {
		b.failures = append(b.failures, b.at(when))
	}
	if len(b.failures) > 0 && in.Logs != nil {
		b.logFiles = in.Logs()
	}
	for _, v := range b.Versions {
		if !v.Static() {
			b.observed(v, b.at(v.Time))
		}
	}
	for _, h := range b.Happenings {
		h.Message = shortened(h.Message, maxMessage)
		b.happened(h, b.at(h.Time))
	}
	return b
}

// at is a time in the narration, to the millisecond. What was before it is its
// beginning.
func (b *builder) at(when time.Time) float64 {
	return max(0, math.Round(when.Sub(b.began).Seconds()*1e3)/1e3)
}

// rig takes into account what became of the rig.
func (b *builder) rig(e timeline.Entry, at float64) {
	switch p := e.Payload.(type) {
	case record.ComponentStarted:
		b.components.named(Component, e.Subject)
	case record.ClockSet:
		b.clocks[e.Subject] = append(b.clocks[e.Subject], clockSet{e.At, p})
		if (p != record.ClockSet{} || at > 0) {
			b.components.named(Component, e.Subject).mark(at, "clock "+p.Clock.String(), "", Faulty)
		}
	case record.NodeRebooted:
		b.components.named(Component, "kubelet/"+e.Subject).mark(at, "node rebooted", "boot ID "+p.BootID, Faulty)
	case record.LeaseAges:
		for _, z := range p.Zones {
			b.leases.aged(z, at)
		}
	case record.LeaseNodesStopped:
		b.leases.zones.named(Leases, e.Subject).mark(at, "nodes stopped", "", Faulty)
	case record.LeaseNodesStarted:
		b.leases.zones.named(Leases, e.Subject).mark(at, "nodes started", "", Changed)
	case record.LeaseClockSet:
		text := "clocks " + p.Clock.String()
		if p.Step != 0 {
			text = "clocks set by " + p.Step.String()
		}
		b.leases.zones.named(Leases, e.Subject).mark(at, text, "", Faulty)
	}
}

// observed takes an object into account. Of simulated nodes, of which there are
// thousands, only those are shown that the scenario is about.
func (b *builder) observed(v *timeline.Version, at float64) {
	b.watchdog.object(v, at)
	if v.Resource == "nodes" && v.Cluster == "" && len(b.Lives("kubelet/"+v.Name)) == 0 && !b.objects.wants(v.Key) {
		return
	}
	switch {
	case v.Fields() == nil:
		return
	case v.Cluster != "":
	case v.Resource == "nodes":
		b.node(v, at)
	case v.Resource == "pods":
		b.pods.observed(v, at)
	case v.Resource == "leases":
		b.leases.observed(v, at)
		return
	default:
		b.workloads.add(v, at)
	}
	b.objects.add(v, at, b.Made(v))
}

// happened takes an Event object into account. What is said of a probe belongs to its
// attempt. Conditions of nodes and workloads are shown otherwise.
func (b *builder) happened(h timeline.Happening, at float64) {
	warning := h.Type == corev1.EventTypeWarning
	switch {
	case h.About.Kind == "Pod":
		b.pods.happened(h, at)
	case h.About.Kind == "Node" && warning:
		b.nodes.warn("nodes/"+h.About.Name, h, at)
	case warning:
		b.workloads.lanes.warn(strings.ToLower(h.About.Kind)+"s/"+h.About.Namespace+"/"+h.About.Name, h, at)
	}
}

// lanes are all lanes, in the order in which they are shown. A cell that asks a Pods
// API is about the answers: they come first.
func (b *builder) lanes(probes map[string][]Lane) []Lane {
	return slices.Concat(
		b.agents.until(b.end), b.lives(), b.links(), b.watchdog.lanes(b.end),
		b.leases.lanes(b.end), b.watchdog.ages.until(b.end), b.nodes.until(b.end), b.workloads.lanes.until(b.end), b.pods.lanes(b.end, probes),
	)
}

func length(n Narration) int {
	text, _ := json.Marshal(n) // texts and finite numbers can be encoded
	return len(text)
}
