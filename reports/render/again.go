package render

import "github.com/skewrig/skewrig/reports"

// again is the command that shows a cell again, or several, one a line. It
// does not overwrite the report.
func again(c reports.Cell, made reports.Reproduce) string {
	command, _ := made.CellAgain(c, reports.DirFor([]string{made.Command}, c.ID))
	return command
}
