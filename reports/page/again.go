package page

import "github.com/skewrig/skewrig/reports"

// again is what to type to see a cell again.
type again struct {
	Command string `json:"command"`
	// Note is what else the command runs. If unset, it runs nothing but the cell.
	Note string `json:"note,omitempty"`
}

// runAgain is the command of the whole run. That of a run of one cell is the cell's, so that a
// page names one directory.
func runAgain(r reports.Report) string {
	if len(r.Cells) == 1 && len(r.Cells[0].Runs) == 0 && r.Reproduce.KnownDeviations() == "" {
		return Run{Report: r}.again(r.Cells[0]).Command
	}
	return reports.Again(r.Reproduce.Command)
}

// again is the shortest command that runs a cell, with a report directory of its own.
func (run Run) again(c reports.Cell) again {
	made := run.Report.Reproduce
	command, whole := made.CellAgain(c, reports.DirFor([]string{made.Command}, c.ID))
	if whole {
		return again{Command: command, Note: "This is the command of the whole run: the report does not name the cell's file."}
	}
	return again{Command: command}
}
