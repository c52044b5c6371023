package app

import (
	"os"
	"slices"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/page"
	"github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// How long the story of a cell may be, as JSON and in bytes: one that needs
// attention is told at length.
const (
	storyLength     = 128 << 10
	attentionLength = 1 << 20
)

// Page is the page of a report in a directory. Cells that are neither among the
// planned ones nor in the catalog are told by their histories alone.
func Page(dir string, report reports.Report, cells []plan.Cell) (page.Run, error) {
	known, err := catalog.Cells()
	if err != nil {
		return page.Run{}, err
	}
	planned := make(map[string]plan.Cell)
	for _, c := range slices.Concat(known, cells) {
		planned[c.ID] = c
	}
	tell := func(c reports.Cell, run reports.Run) (*story.Story, error) {
		round := roundDir(dir, run.Number)
		if _, err := os.Stat(engine.CellDir(round, c.ID)); err != nil {
			return nil, nil //nolint:nilerr // nothing was recorded of it: the page says so
		}
		cell, known := planned[c.ID]
		if !known {
			cell.ID = c.ID
		}
		length := storyLength
		if !c.Outcome.Expected() {
			length = attentionLength
		}
		c.Outcome, c.Reason, c.Checks = run.Outcome, run.Reason, run.Checks
		s := engine.Story(round, cell, c, length)
		return &s, nil
	}
	return page.Run{Report: report, Story: tell, Dir: os.DirFS(dir)}, nil
}
