package page

import (
	"path"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// again is what to type to see a cell again.
type again struct {
	Command string `json:"command"`
	// Note is what else the command runs. If unset, it runs nothing but the cell.
	Note string `json:"note,omitempty"`
}

// again is the shortest command that runs a cell, with a report directory of its own. The catalog has its cells by their
// ids; those of a user's own are chosen of their files.
func (run Run) again(c reports.Cell) again {
	made := run.Report.Reproduce
	file, _ := run.FileOf(c)
	command, whole := made.CellAgain(c.ID, file, reports.DirFor([]string{made.Command}, c.ID))
	if whole {
		return again{Command: command, Note: "This is the command of the whole run: the cell's plan, which names its file, is not beside this page."}
	}
	return again{Command: command}
}

// FileOf is the scenario file that a cell is from, as its plan says.
func (run Run) FileOf(c reports.Cell) (file string, found bool) {
	if run.Dir == nil {
		return "", false
	}
	f, err := run.Dir.Open(path.Join(c.WorstRun().Dir, reports.PlanData))
	if err != nil {
		return run.printedFileOf(c)
	}
	defer f.Close()
	p, err := record.ReadPlan(f)
	return p.File, err == nil
}
