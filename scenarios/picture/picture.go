// Package picture makes pictures of cells from their records: what leases,
// nodes, the watchdog and the Deployments that it scales did, on one axis of
// time. It takes values and returns values; reports/plot draws them.
package picture

import (
	"math"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/plot"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// The titles of the panels that others tell, too.
const (
	Nodes    = "nodes"
	Probes   = "the watchdog's probes"
	Expired  = "expired, % of the list"
	Replicas = "replicas"
)

// Leases is the picture of a cell with simulated nodes. It reports false if the
// record says nothing of leases.
func Leases(cell plan.Cell, events []record.Event) (plot.Picture, bool) {
	h := history{cell: cell, events: events}
	ages := h.ages()
	if len(ages.Lines) == 0 {
		return plot.Picture{}, false
	}
	from, to := h.steps()
	p := plot.Picture{
		Title: cell.Title, Subtitle: cell.ID, From: from, To: to, Axis: "seconds of the record",
		Steps: h.taken(),
	}
	outages := h.outages(from, to)
	p.Shades = shades(outages)
	for _, panel := range []plot.Panel{
		{Title: "what was wrong", Lanes: outages},
		ages, h.nodes(),
		{Title: Probes, Lanes: h.probes()},
		h.expired(),
		{Title: Replicas, Lanes: h.dependents()},
	} {
		if len(panel.Lanes)+len(panel.Lines)+len(panel.Stems) > 0 {
			p.Panels = append(p.Panels, panel)
		}
	}
	p.Description = described(p)
	return p, true
}

// history is a record with its cell.
type history struct {
	cell   plan.Cell
	events []record.Event
}

// at is when an event happened, in seconds since the record began.
func (h history) at(e record.Event) float64 {
	return math.Round(e.At.Sub(h.events[0].At).Seconds()*1000) / 1000
}

// steps is the time from the first step, or from when leases are looked at if
// that is earlier, to the end of the last. What comes before starts the rig, and
// what comes after ends it.
func (h history) steps() (from, to float64) {
	from, to = math.Inf(1), math.Inf(-1)
	for _, e := range h.events {
		switch e.Kind {
		case record.LeaseAges{}.EventKind():
			from = min(from, h.at(e))
		case record.StepStarted{}.EventKind(), record.StepDone{}.EventKind():
			from, to = min(from, h.at(e)), max(to, h.at(e))
		}
	}
	if to < from { // no step was taken
		to = h.at(h.events[len(h.events)-1])
	}
	return from, to
}
