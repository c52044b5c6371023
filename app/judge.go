package app

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Judge judges the saved run in a report directory again, with the checks of the
// catalog and of scenario files, and replaces its report.
func Judge(dir string, files []string, list known.List) (_ reports.Report, err error) {
	saved, err := ReadReport(dir)
	if err != nil {
		return reports.Report{}, err
	}
	cells, err := savedCells(saved, files)
	if err != nil {
		return reports.Report{}, err
	}
	dir = DirOf(dir)
	claimed, err := Place{Dir: dir}.ClaimFor(cells)
	if err != nil {
		return reports.Report{}, err
	}
	defer func() { err = errors.Join(err, Failed(claimed.Close())) }()
	ran, err := rejudge(dir, saved, cells)
	if err != nil {
		return reports.Report{}, Failed(err)
	}
	a, err := newAssembler(cells, list, saved.Reproduce) // judging again does not change what ran
	if err != nil {
		return reports.Report{}, err
	}
	report, err := a.assemble(ran)
	if err != nil {
		return reports.Report{}, err
	}
	report.Shard, report.Partial = saved.Shard, saved.Partial
	if saved.Unfinished() > 0 && report.Unfinished() == 0 {
		report.Partial = "" // its cells had ended when it was killed
	}
	report.Problems = append(report.Problems, reports.DifferentBinaries(saved.Reproduce.Components)...)
	return finish(dir, report)
}

// rejudge judges all saved runs of cells, which are in the order of the report. A
// cell that did not run to its end stays what it was.
func rejudge(dir string, saved reports.Report, cells []plan.Cell) ([]ranCell, error) {
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
	for _, number := range slices.Sorted(maps.Keys(rounds)) {
		var round []plan.Cell
		for _, i := range rounds[number] {
			round = append(round, cells[i])
		}
		results, err := engine.Rejudge(roundDir(dir, number), round)
		failures = append(failures, err)
		for n, r := range results {
			i := rounds[number][n]
			if was := saved.Cells[i]; was.Unfinished && (r.Unfinished || r.Outcome == reports.HarnessError) {
				r = was
				r.Runs = nil
			}
			r.Started, r.DurationSeconds = before[i][number].Started, before[i][number].DurationSeconds
			ran = append(ran, ranCell{number, r})
		}
	}
	return ran, errors.Join(failures...)
}

// savedCells plans the cells of a saved report. A cell that neither the catalog
// nor the files have any more can't be judged, and is an error.
func savedCells(saved reports.Report, files []string) ([]plan.Cell, error) {
	here, err := Here()
	if err != nil {
		return nil, err
	}
	own, err := planFiles(files)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, c := range saved.Cells {
		ids = append(ids, c.ID)
	}
	return pick(slices.Concat(own, here.Cells()), ids, func(id string) error {
		if len(files) == 0 {
			return fmt.Errorf("%s comes from a file of your own: skewrig judge DIR FILE", id)
		}
		return fmt.Errorf("%s is neither in the catalog nor in %s", id, strings.Join(files, ", "))
	})
}
