package app

import (
	"cmp"
	"slices"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// assembler makes reports of runs of some cells.
type assembler struct {
	known known.List
	// notRun are the cells of the catalog, and of the user's files, that are not among them: an
	// entry of the known deviations for one of them is not stale.
	notRun       []string
	requirements []reports.Requirement
	readings     reports.Readings
	reproduce    reports.Reproduce
}

// newAssembler is for runs of cells, some of which may be those of the user's files.
func newAssembler(cells []plan.Cell, files []string, of Catalog, reproduce reports.Reproduce) (*assembler, error) {
	own, err := of.planFiles(files)
	if err != nil {
		return nil, err
	}
	ran := cellIDs(cells)
	others := slices.Concat(own, of.Cells())
	if of.Releases.Chosen() { // what is known of the default releases stays true
		byDefault, err := builtIn()
		if err != nil {
			return nil, Failed(err)
		}
		others = append(others, byDefault.BuiltIn...)
	}
	notRun := slices.DeleteFunc(cellIDs(others), func(id string) bool { return slices.Contains(ran, id) })
	return &assembler{of.Known, notRun, of.Requirements, reports.ReadingsOf(of.Requirements), reproduce}, nil
}

// excuse settles the result of one cell as the report of the run will.
func (a *assembler) excuse(c reports.Cell) reports.Cell { return a.readings.Judge(a.known.Excuse(c)) }

// ranCell is the result of a run of a cell, with its number.
type ranCell struct {
	number int
	result reports.Cell
}

// assemble makes the report of runs: what is known to fail marked as such, runs of
// one cell joined, the ledgers' statements joined to the checks that serve them,
// and what it takes to run the same again.
func (a *assembler) assemble(ran []ranCell) (reports.Report, error) {
	ran = slices.SortedStableFunc(slices.Values(ran), func(a, b ranCell) int { return cmp.Compare(a.number, b.number) })
	results := make([]reports.Cell, len(ran))
	for i, r := range ran {
		results[i] = r.result
	}
	results, stale := known.Apply(a.known, results, a.notRun)
	for i, r := range results {
		results[i] = a.readings.Judge(r).Numbered(ran[i].number)
	}
	report, err := reports.Assemble(reports.JoinEach(results), a.requirements, a.reproduce)
	for _, problem := range stale {
		report.Problems = append(report.Problems, problem.Error())
	}
	return report.Explained(a.known.Findings()), Failed(err)
}
