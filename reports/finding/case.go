package finding

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/narrate"
)

// Case is a cell in which a check failed that no list has, with what a reader takes along
// in order to report it.
type Case struct {
	Cell  reports.Cell
	Check reports.Check
	// Headline says in words what is wrong.
	Headline string
	// Cause is what happened, in sentences, and Window what came of the check in time. If
	// unset, nothing is known but its value.
	Cause, Window string
	// Because is what led to it, in sentences.
	Because []string
	// Also are the other checks of the cell that fail for the same failure.
	Also []string
	// Again is the command that runs the cell.
	Again string
	// Ran is what ran, a line each: with the times at which it began to, if these are known.
	Ran []string
	// Related are the recorded deviations that the check has to do with, PassesIn the other cells of
	// the scenario in which it passes.
	Related  []reports.RelatedDeviation
	PassesIn []string
	// Closest is the check of the same cell that passes and is most like it. If it has no id, none
	// is like it.
	Closest reports.Check
	// Others are what the check came to in each cell of the scenario, this one included.
	Others []Seen
	// Exhibits are the evidence.
	Exhibits []Exhibit
}

// Seen is what a check came to in a cell.
type Seen struct {
	Axes    map[string]string
	Outcome reports.Outcome
}

// Exhibit is a piece of evidence, in lines.
type Exhibit struct{ Title, Text string }

// NewCase gathers what is known of a check that failed in a cell of a run, as a finding is
// about. The narration is nil if nothing was recorded.
func NewCase(run evidence.Run, f Finding, c reports.Cell, check reports.Check, n *narrate.Narration) Case {
	of := Case{
		Cell: c, Check: check, Headline: headline(redCheck{c, check}, f.Statement), Again: again(run, c),
		Related: run.Report.RelatedDeviations(c, check), PassesIn: run.Report.PassesIn(c, check), Closest: reports.ClosestCheck(c, check),
	}
	if of.isKnown() {
		of.Headline = fmt.Sprintf("The check of “%s” fails with %s too", of.Related[0].Finding.Headline, strings.Join(valuesOf(c), ", "))
	}
	for _, other := range run.Report.Cells {
		i := slices.IndexFunc(other.Checks, func(k reports.Check) bool { return k.ID == check.ID && k.Outcome.Judged() })
		if i >= 0 && c.Scenario != "" && other.Scenario == c.Scenario {
			of.Others = append(of.Others, Seen{other.Axes, other.Checks[i].Outcome})
		}
	}
	if n == nil {
		of.Ran = historiesOf(run.Facts[c.ID])
		return of
	}
	s := viewOf(n, check)
	of.Also = sameFailure(n.Checks, s.looked)
	of.Cause, of.Because, of.Window = s.looked.Cause, s.looked.Because, s.looked.Summary
	if of.Cause != "" && !of.isKnown() {
		of.Headline = brief(of.Cause, maxTitle)
	}
	of.Ran = s.ran()
	for _, e := range s.exhibits(of.Closest) {
		if e.Text != "" {
			of.Exhibits = append(of.Exhibits, e)
		}
	}
	return of
}

// viewOf limits a narration to what a check is about.
func viewOf(n *narrate.Narration, check reports.Check) view {
	s := view{Narration: n, expression: check.Expected, until: n.Seconds}
	s.expects, _ = check.Expectation()
	if i := slices.IndexFunc(n.Checks, func(k narrate.Check) bool { return k.ID == check.ID }); i >= 0 {
		s.looked = n.Checks[i]
		s.about, s.until = s.looked.Named, s.looked.To
	}
	return s
}

// sameFailure are the other checks that fail for the failure of one.
func sameFailure(checks []narrate.Check, one narrate.Check) (ids []string) {
	first := func(c narrate.Check) string { return cmp.Or(c.Same, c.ID) }
	for _, c := range checks {
		if c.ID != one.ID && first(c) == first(one) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// maxTitle is how long the title of an issue may be on GitHub, in runes.
const maxTitle = 256

// isKnown reports whether the same check deviates in other cells, as recorded.
func (c Case) isKnown() bool { return len(c.Related) > 0 && c.Related[0].SameCheck }

// valuesOf are the values that make a cell, with the names of their axes.
func valuesOf(c reports.Cell) (all []string) {
	return reports.Each(slices.Sorted(maps.Keys(c.Axes)), func(axis string) string { return axis + " " + c.Axes[axis] })
}

// historiesOf returns the releases of each component, one after the other.
func historiesOf(facts evidence.Facts) (all []string) {
	for _, c := range facts.Components {
		was := reports.Each(c.Starts, startedAs)
		all = append(all, c.Name+" "+strings.Join(was, ", then "))
	}
	return all
}

func startedAs(s evidence.Start) string {
	gates := new(valueHistory)
	for gate, on := range s.Gates {
		gates.add(map[bool]string{true: "on", false: "off"}[on], gate)
	}
	if said := gates.String(); said != "" {
		return s.Release() + " with " + said
	}
	return s.Release()
}
