package page

import (
	"bufio"
	"io/fs"
	"path"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// This file reads what reports of format 1 say as text only: the scenario file of a
// cell, in its printed plan. Newer ones have it as data.

// printedFileOf is the scenario file that a cell is from, as its printed plan says.
func (run Run) printedFileOf(c reports.Cell) (file string, found bool) {
	plan, err := run.Dir.Open(path.Join(c.WorstRun().Dir, reports.PlanFile))
	if err != nil {
		return "", false
	}
	defer plan.Close()
	return plannedFrom(plan)
}

func plannedFrom(plan fs.File) (file string, found bool) {
	lines := bufio.NewScanner(plan)
	for range 3 { // the id, the title, the file
		lines.Scan()
		file, found = strings.CutPrefix(lines.Text(), "from ")
	}
	return file, found
}
