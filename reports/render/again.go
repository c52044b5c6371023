package render

import (
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
)

// again is the command that shows a cell again. A cell of the catalog is run by its
// id; one of a user's own file is not known by that, so that it takes the command of
// the run. Neither overwrites the report.
func again(c reports.Cell, reproduce reports.Reproduce) string {
	if strings.Contains(reproduce.Command, ".yaml") || strings.Contains(reproduce.Command, ".yml") {
		return reports.Again(reproduce.Command)
	}
	return evidence.Sources{reproduce.Command}.Command(c.ID)
}
