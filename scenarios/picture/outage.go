package picture

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/lease"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/plot"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// trouble is what can be wrong with a component: one thing of a kind at a time.
type trouble struct{ kind, component string }

// outages gathers what is wrong, and since when.
type outages struct {
	open  map[trouble]plot.Span
	lanes map[trouble]*plot.Lane
	order []trouble
}

// outages shows faults of links, components that don't run, and clocks that are
// wrong, between two times.
func (h history) outages(from, to float64) (lanes []plot.Lane) {
	o := outages{open: make(map[trouble]plot.Span), lanes: make(map[trouble]*plot.Lane)}
	if nodes := h.cell.Topology.LeaseNodes; nodes != nil && nodes.Offset != 0 {
		o.set(trouble{"clock", lease.Component}, from, clock.Clock{Offset: time.Duration(nodes.Offset)})
	}
	for _, e := range h.events {
		if at := h.at(e); at < to { // what ends with the rig is not amiss
			o.saw(e, at)
			o.sawNodes(e, at)
		}
	}
	for _, t := range o.order {
		o.ended(t, to)
		lane := *o.lanes[t]
		lane.Bars = slices.DeleteFunc(lane.Bars, func(s plot.Span) bool { return s.To <= from })
		if len(lane.Bars) > 0 {
			lanes = append(lanes, lane)
		}
	}
	slices.SortStableFunc(lanes, func(a, b plot.Lane) int { return cmp.Compare(a.Bars[0].From, b.Bars[0].From) })
	return lanes
}

// saw takes into account what happened to links and components.
func (o *outages) saw(e record.Event, at float64) {
	from, to, _ := strings.Cut(e.Subject, "->")
	ofLink := trouble{"link to " + to, from}
	if began, ok := record.As[record.FaultBegan](e); ok {
		o.began(ofLink, at, plot.Bad, faulty(to, began.Fault))
	}
	if _, ok := record.As[record.FaultEnded](e); ok {
		o.ended(ofLink, at)
	}
	if stopped, ok := record.As[record.ComponentStopped](e); ok {
		o.stopped(e.Subject, at, stopped.Asked)
	}
	if _, ok := record.As[record.ComponentStarted](e); ok {
		o.ended(trouble{"stopped", e.Subject}, at)
	}
	if set, ok := record.As[record.ClockSet](e); ok {
		o.set(trouble{"clock", e.Subject}, at, set.Clock)
	}
}

// faulty tells what is wrong with a link, in few words: most lead to the rig's API
// server, and a path is known by its end.
func faulty(to string, f record.LinkFault) string {
	ofRequests := f.Path != ""
	if dir := path.Dir(f.Path); strings.HasPrefix(f.Path, "/") && dir != "/" {
		f.Path = "…/" + path.Base(f.Path)
	}
	switch {
	case to != spec.APIServer:
		return "link to " + to + ": " + f.String()
	case ofRequests:
		return f.String()
	default:
		return "link: " + f.String()
	}
}

// sawNodes takes into account what simulated nodes were told to do.
func (o *outages) sawNodes(e record.Event, at float64) {
	if _, ok := record.As[record.LeaseNodesStopped](e); ok {
		o.stopped(e.Subject, at, true)
	}
	if _, ok := record.As[record.LeaseNodesStarted](e); ok {
		o.ended(trouble{"stopped", e.Subject}, at)
	}
	set, ok := record.As[record.LeaseClockSet](e)
	switch {
	case !ok:
	case set.Step != 0:
		o.began(trouble{"clock", e.Subject}, at, plot.Doubt, "clock set by "+set.Step.String())
	default:
		o.set(trouble{"clock", e.Subject}, at, set.Clock)
	}
}

func (o *outages) stopped(component string, at float64, asked bool) {
	t := trouble{"stopped", component}
	if asked {
		o.began(t, at, plot.Gone, "stopped")
	} else {
		o.began(t, at, plot.Gone, "ended by itself")
	}
}

func (o *outages) set(t trouble, at float64, to clock.Clock) {
	if to == (clock.Clock{}) {
		o.ended(t, at)
	} else {
		o.began(t, at, plot.Doubt, "clock "+to.String())
	}
}

// began opens a span. What was wrong in the same way before is over.
func (o *outages) began(t trouble, at float64, look plot.Look, label string) {
	o.ended(t, at)
	if o.lanes[t] == nil {
		o.lanes[t] = &plot.Lane{Name: t.component}
		o.order = append(o.order, t)
	}
	o.open[t] = plot.Span{From: at, Label: label, Look: look}
}

func (o *outages) ended(t trouble, at float64) {
	span, is := o.open[t]
	if !is {
		return
	}
	delete(o.open, t)
	span.To = at
	o.lanes[t].Bars = append(o.lanes[t].Bars, span)
}

// shades are the spans that are shaded: all that are in the lanes, but for clocks,
// which may be wrong all the time.
func shades(lanes []plot.Lane) (spans []plot.Span) {
	for _, l := range lanes {
		for _, b := range l.Bars {
			if b.Look != plot.Doubt {
				spans = append(spans, b)
			}
		}
	}
	return spans
}
