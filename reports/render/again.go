package render

import "github.com/skewrig/skewrig/reports"

// again is the command that shows a cell of a file again, or several, one a line. It
// does not overwrite the report.
func again(c reports.Cell, file string, made reports.Reproduce) string {
	command, _ := made.CellAgain(c.ID, file, reports.DirFor([]string{made.Command}, c.ID))
	return command
}
