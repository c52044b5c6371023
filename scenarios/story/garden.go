package story

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/plot"
	"github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/picture"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// garden tells what the picture of a cell with leases shows: how many simulated
// nodes are ready, what the watchdog asked and saw, and what it scaled.
func (t *teller) garden() (all []story.Lane) {
	p, is := picture.Leases(t.in.Cell, t.in.Events)
	if !is {
		return nil
	}
	for _, panel := range p.Panels {
		switch panel.Title {
		case picture.Nodes:
			all = append(all, t.counted(panel))
		case picture.Probes:
			for _, l := range panel.Lanes {
				all = append(all, t.marked(story.Link, spec.WatchdogToShoot+": "+l.Name, l))
			}
		case picture.Expired:
			all = append(all, stems(panel))
		case picture.Replicas:
			for _, l := range panel.Lanes {
				all = append(all, t.marked(story.ObjectState, "seed/deployments/"+l.Name, l))
			}
		}
	}
	return all
}

var tones = map[plot.Look]story.Tone{plot.Good: story.Good, plot.Bad: story.Bad, plot.Doubt: story.Changed}

// marked is a lane of a picture: what has a value is a span.
func (t *teller) marked(kind story.Kind, name string, from plot.Lane) story.Lane {
	l := lane{Lane: story.Lane{Name: name, Kind: kind, Group: spec.Watchdog}}
	for _, s := range from.Steps {
		l.becomes(s.At, story.Span{Label: reports.Counted(int(s.Value), "replica")})
	}
	l.ends(t.end)
	for _, m := range from.Marks {
		for _, at := range m.At {
			l.mark(at, m.Label, "", tones[m.Look])
		}
	}
	return inOrder(l.Lane)
}

// stems is a lane of numbers in percent.
func stems(panel plot.Panel) story.Lane {
	l := lane{Lane: story.Lane{Name: spec.WatchdogToShoot + ": " + panel.Title, Kind: story.Link, Group: spec.Watchdog}}
	for _, s := range panel.Stems {
		for _, p := range s.Points {
			l.mark(p.At, fmt.Sprintf("%.0f %%", p.Value), s.Label, tones[s.Look])
		}
	}
	return inOrder(l.Lane)
}

// inOrder is a lane with its marks in the order of time.
func inOrder(l story.Lane) story.Lane {
	slices.SortStableFunc(l.Marks, func(a, b story.Mark) int { return cmp.Compare(a.At, b.At) })
	return l
}

// settling is for how long a number must be the same to be told, in seconds, if
// there is no other before it.
const settling = 1

// counted is how many nodes are not Ready over time, and of those Unknown. While
// the number changes all the time, the last one is told.
func (t *teller) counted(panel plot.Panel) story.Lane {
	l := lane{Lane: story.Lane{Name: "nodes", Kind: story.ObjectState}}
	unready, unknown := panel.Lines[0].Points, panel.Lines[1].Points
	var times []float64
	for _, p := range slices.Concat(unready, unknown) {
		times = append(times, p.At)
	}
	slices.Sort(times)
	for _, at := range slices.Compact(times) {
		s := story.Span{Label: "all are Ready", Tone: story.Good}
		if n := valueAt(unready, at); n > 0 {
			s = story.Span{Label: fmt.Sprintf("%g of %g not Ready", n, panel.Top), Tone: story.Bad}
		}
		if n := valueAt(unknown, at); n > 0 {
			s.Label += fmt.Sprintf(", %g of them Unknown", n)
		}
		if l.open != nil && at-l.open.From < settling && s.Tone == l.open.Tone {
			l.open.Label = s.Label
		}
		l.becomes(at, s)
	}
	l.ends(t.end)
	return l.Lane
}

// valueAt is the value that was reached last.
func valueAt(points []plot.Point, at float64) (value float64) {
	for _, p := range points {
		if p.At <= at {
			value = p.Value
		}
	}
	return value
}
