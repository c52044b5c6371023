package app

import (
	"fmt"
	"slices"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate/compare"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// comparer compares runs of cells with runs of others of their scenarios, as the scenarios ask
// for. Which two are compared does not depend on which of them ends first.
type comparer struct {
	dir   string // of the report
	cells map[string]plan.Cell
	// ended are the results of runs, and waiting those that can't be judged before them.
	ended   map[cellRun]reports.Cell
	waiting map[cellRun][]ranCell
}

// cellRun is a run of a cell.
type cellRun struct {
	id     string
	number int
}

func newComparer(dir string, cells []plan.Cell) *comparer {
	c := &comparer{
		dir: dir, cells: make(map[string]plan.Cell), ended: make(map[cellRun]reports.Cell), waiting: make(map[cellRun][]ranCell),
	}
	for _, cell := range cells {
		c.cells[cell.ID] = cell
	}
	return c
}

// take takes the result of a run, and returns those that are whole with it: a cell that is
// compared with another one is when both have ended.
func (c *comparer) take(ran ranCell) (whole []ranCell) {
	me := cellRun{ran.result.ID, ran.number}
	c.ended[me] = ran.result
	cell := c.cells[me.id]
	partner := cellRun{cell.With, ran.number}
	_, there := c.ended[partner]
	_, comes := c.cells[cell.With]
	switch {
	case cell.Compare == nil || ran.result.Outcome == reports.NotTestable: // which has a reason of its own
		whole = append(whole, ran)
	case there || !comes:
		whole = append(whole, c.compared(ran))
	default:
		c.waiting[partner] = append(c.waiting[partner], ran)
	}
	for _, waited := range c.waiting[me] {
		whole = append(whole, c.compared(waited))
	}
	delete(c.waiting, me)
	return whole
}

// rest returns the results that still wait: what they wait for has not ended.
func (c *comparer) rest() (whole []ranCell) {
	for _, waited := range c.waiting {
		for _, ran := range waited {
			whole = append(whole, c.compared(ran))
		}
	}
	clear(c.waiting)
	return whole
}

// compared adds to the result of a run what came of the comparison.
func (c *comparer) compared(ran ranCell) ranCell {
	cell := c.cells[ran.result.ID]
	compared, why := c.compare(cell, ran)
	check := compared.Check(cell.Compare.ID, cell.Compare.Requirement)
	switch {
	case ran.result.Outcome == reports.NotTestable: // nothing was started that could be compared
		check.Outcome, check.Observed, check.Reason = reports.NotTestable, "", ran.result.Reason
	case why == "":
		ran.result.Compared = compared
	default:
		check.Outcome, check.Observed, check.Reason = reports.Unknown, "", why
	}
	if check.Requirement != "" {
		ran.result.Requirements = append(slices.Clone(ran.result.Requirements), check.Requirement)
	}
	if ran.result.Outcome.Judged() {
		ran.result.Outcome = "" // the checks decide, and this one is among them
	}
	ran.result.Checks = append(slices.Clone(ran.result.Checks), check)
	ran.result = ran.result.Settled()
	return ran
}

// compare compares a run with the run of the other cell that has its number, or says why it can't.
func (c *comparer) compare(cell plan.Cell, ran ranCell) (compared reports.Compared, why string) {
	compared.With = cell.With
	other, there := c.ended[cellRun{cell.With, ran.number}]
	if !there {
		return compared, fmt.Sprintf("%s did not run: run both", cell.With)
	}
	var runs [2][]compare.Run
	for i, result := range []reports.Cell{ran.result, other} {
		if result.Unfinished || !result.Outcome.Judged() {
			return compared, fmt.Sprintf("%s was not judged: %s", result.ID, result.Outcome.Word())
		}
		events, err := engine.History(c.dir, result.ID, ran.number)
		if err != nil {
			return compared, fmt.Sprintf("the record of %s can't be read: %v", result.ID, err)
		}
		runs[i] = []compare.Run{{Events: events, Checks: result.Checks}}
	}
	compared.Distinctions = compare.Distinguish(runs[0], runs[1])
	fails := oneFails(ran.result, other)
	for i, d := range compared.Distinctions {
		if e := cell.Compare.Explains(d.What, d.Said(), fails); e != nil {
			compared.Distinctions[i].Because = e.Because
		}
	}
	return compared, ""
}

// oneFails returns whether one of two cells has a check that it does not pass.
func oneFails(a, b reports.Cell) func(check string) bool {
	return func(check string) bool {
		fails := func(c reports.Check) bool { return c.ID == check && c.Outcome != reports.Pass }
		return slices.ContainsFunc(a.Checks, fails) || slices.ContainsFunc(b.Checks, fails)
	}
}

// unneeded are the explanations of scenarios that no difference needed, if each cell of the
// scenario was compared that is to be.
func unneeded(cells []plan.Cell, report reports.Report) (problems []string) {
	results := make(map[string]reports.Cell) // by id
	for _, c := range report.Cells {
		results[c.ID] = c
	}
	for _, all := range reports.Grouped(cells, func(c plan.Cell) string { return c.Scenario }) {
		needed, whole := make(map[string]bool), len(all) == all[0].Cells
		var of *spec.Compare
		for _, c := range all {
			if c.Compare == nil || c.Compare.Shared {
				continue
			}
			result := results[c.ID]
			of, whole = c.Compare, whole && !result.Compared.IsZero()
			for _, d := range result.Compared.Distinctions {
				if e := of.Explains(d.What, d.Said(), oneFails(result, results[c.With])); e != nil {
					needed[e.What] = true
				}
			}
		}
		if of == nil || !whole {
			continue
		}
		for _, e := range of.Explained {
			if !needed[e.What] {
				problems = append(problems, fmt.Sprintf("%s: no difference is %q, which the scenario explains", all[0].File, e.What))
			}
		}
	}
	return problems
}
