package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/reports/narrate/saved"
	"github.com/skewrig/skewrig/reports/page"
	"github.com/skewrig/skewrig/scenarios/explain"
	"github.com/skewrig/skewrig/scenarios/oracle"
)

// Page is the page of a report in a directory.
func Page(ctx context.Context, dir string, report reports.Report) page.Run {
	dir = DirOf(dir)
	narration := func(c reports.Cell, run reports.Run, limit int) (*narrate.Narration, error) {
		return narration(ctx, dir, c, run, limit), nil
	}
	// What is said of a record that can't be read is in its cell's place.
	run, _ := saved.Run(dir, report, finding.Concerned(report))
	return page.Run{Report: report, Narration: narration, Facts: run.Facts, List: listFor(report.Reproduce), Dir: files.RootFS(dir, files.MaxReport)}
}

// narration is that of one run of a cell. It is nil if nothing was recorded of it.
func narration(ctx context.Context, dir string, c reports.Cell, run reports.Run, limit int) *narrate.Narration {
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(reports.RunDir(c.ID, run.Number)))); err != nil {
		return nil
	}
	c.Outcome, c.Reason, c.Checks = run.Outcome, run.Reason, run.Checks
	n := saved.Narration(dir, c, run.Number, limit, explained(ctx))
	return &n
}

// CausesOf returns what finds why checks of a cell do not hold, in the words of its page, by
// the ids of the checks.
func CausesOf(ctx context.Context, dir string) func(reports.Cell) map[string]string {
	return func(c reports.Cell) map[string]string {
		causes := make(map[string]string)
		if n := narration(ctx, DirOf(dir), c, c.WorstRun(), maxCase); n != nil {
			for _, check := range n.Checks {
				causes[check.ID] = strings.TrimSpace(check.Cause + "\n" + strings.Join(check.Because, "\n"))
			}
		}
		return causes
	}
}

// explained has a narration say what oracles and checks know of its history.
func explained(ctx context.Context) func(*narrate.Input) {
	return func(in *narrate.Input) {
		in.Attempts = oracle.Attempts(in.Events)
		explain.Checks(ctx, in)
	}
}
