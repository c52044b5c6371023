package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Judge judges the saved run in a report directory again, with the checks of the
// catalog and of scenario files, and by what the catalog knows to fail. The report goes to a place with the files of the cells;
// if that is the directory itself, the report there is replaced, and the changes are printed.
func (c Catalog) Judge(ctx context.Context, dir string, files []string, to Place) (_ reports.Report, err error) {
	saved, err := ReadReport(dir)
	if err != nil {
		return reports.Report{}, err
	}
	if c, err = c.onReleasesOf(saved); err != nil {
		return reports.Report{}, err
	}
	cells, err := c.savedCells(saved, files)
	if err != nil {
		return reports.Report{}, err
	}
	dir = DirOf(dir)
	here, tell := SameDir(dir, to.Dir), to.Tell
	if here {
		to.Tell = nil // what changes is known in the end
	}
	claimed, err := to.ClaimFor(cells)
	if err != nil {
		return reports.Report{}, err
	}
	defer func() { err = errors.Join(err, Failed(claimed.Close())) }()
	ran, err := rejudge(ctx, dir, saved, cells)
	if err != nil {
		return reports.Report{}, Failed(err)
	}
	assembler, err := newAssembler(cells, files, c, saved.Reproduce) // judging again does not change what ran
	if err != nil {
		return reports.Report{}, err
	}
	report, err := assembler.assemble(ran)
	if err != nil {
		return reports.Report{}, err
	}
	report = report.JudgedAgain(saved) // whose cells may have ended before it was killed
	report.Problems = append(report.Problems, reports.DifferentBinaries(saved.Reproduce.Components)...)
	if !here {
		if err := claimed.replaceCells(func(to string) error { return copyRuns([]string{dir}, unmoved(saved), to) }); err != nil {
			return reports.Report{}, Failed(err)
		}
	}
	report, err = finish(ctx, to.Dir, report)
	if here && tell != nil && err == nil {
		tell(replaced(dir, saved, report))
	}
	return report, err
}

// unmoved has the files of all runs of a report go where they are there.
func unmoved(r reports.Report) (runs []reports.Moved) {
	for _, c := range r.Cells {
		for _, run := range c.EachRun() {
			runs = append(runs, reports.Moved{From: run.Dir, To: run.Dir})
		}
	}
	return runs
}

// replaced is a sentence about a report that was judged again: which outcomes are others.
func replaced(dir string, before, after reports.Report) string {
	were := make(map[string]reports.Outcome)
	for _, c := range before.Cells {
		were[c.ID] = c.Outcome
	}
	var changed []string
	for _, c := range after.Cells {
		if was := were[c.ID]; was != c.Outcome {
			changed = append(changed, fmt.Sprintf("%s from %s to %s", c.ID, was.Word(), c.Outcome.Word()))
		}
	}
	what := "no outcome changed"
	if len(changed) > 0 {
		what = fmt.Sprintf("%s changed: %s", reports.Counted(len(changed), "outcome"), reports.Few(changed, maxNamed))
	}
	return fmt.Sprintf("Replaced the report of %s in %s; %s", reports.Counted(len(after.Cells), "cell"), dir, what)
}

// rejudge judges all saved runs of cells, which are in the order of the report (see rejudged).
func rejudge(ctx context.Context, dir string, saved reports.Report, cells []plan.Cell) ([]ranCell, error) {
	rounds := make(map[int][]int) // the places of the cells that have a run of a number
	before := make([]map[int]reports.Run, len(cells))
	for i, c := range saved.Cells {
		before[i] = make(map[int]reports.Run)
		for _, r := range c.EachRun() {
			before[i][r.Number] = r
			rounds[r.Number] = append(rounds[r.Number], i)
		}
	}
	var ran []ranCell
	var failures []error
	with := newComparer(dir, cells)
	for _, number := range slices.Sorted(maps.Keys(rounds)) {
		round := reports.Each(rounds[number], func(i int) plan.Cell { return cells[i] })
		results, err := engine.Rejudge(ctx, dir, number, round)
		failures = append(failures, err)
		for n, r := range results {
			i := rounds[number][n]
			run := before[i][number]
			r = rejudged(r, saved.Cells[i], run)
			r.Started, r.DurationSeconds, r.StandIns = run.Started, run.DurationSeconds, saved.Cells[i].StandIns
			ran = append(ran, with.take(ranCell{number, r})...)
		}
	}
	return append(ran, with.rest()...), errors.Join(failures...)
}

// rejudged is what came of judging a saved run of a cell again. A cell that did not run to its end
// stays what it was, and so does a run of which the harness was at fault, and one that could not
// start. A run that ended counts, also if its record is gone: then it is unknown.
func rejudged(r, was reports.Cell, run reports.Run) reports.Cell {
	if was.Unfinished {
		if r.Unfinished || r.Outcome == reports.HarnessError {
			r = was
			r.Runs = nil
		}
		return r
	}
	gone := r.Unfinished
	r.Unfinished = false
	switch {
	case run.Outcome == reports.HarnessError && r.Outcome != reports.HarnessError: // what was wrong after the record had ended is not in it
		return r.Overruled(run.Outcome, run.Reason)
	case !gone:
		return r
	case run.Outcome == reports.NotTestable: // nothing was recorded
		r.Outcome, r.Reason, r.Checks = run.Outcome, run.Reason, run.Checks
		return r.Settled()
	case run.Outcome == reports.Unknown:
		return r.Overruled(run.Outcome, run.Reason)
	}
	return r.Overruled(reports.Unknown, "its record is gone or has no end; it was "+run.Outcome.Word())
}

// savedCells plans the cells of a saved report. A cell that neither the catalog
// nor the files have any more can't be judged, and is an error.
func (c Catalog) savedCells(saved reports.Report, files []string) ([]plan.Cell, error) {
	own, err := c.planFiles(files)
	if err != nil {
		return nil, err
	}
	ids := reports.Each(saved.Cells, func(ran reports.Cell) string { return ran.ID })
	known := slices.Concat(own, c.Cells())
	both, err := onBoth(known)
	if err != nil {
		return nil, err
	}
	return pick(slices.Concat(known, both), ids, func(id string) error {
		if len(files) == 0 {
			return fmt.Errorf("%s comes from a file of your own: skewrig report judge DIR FILE", id)
		}
		return fmt.Errorf("%s is neither in the catalog nor in %s", id, strings.Join(files, ", "))
	})
}
