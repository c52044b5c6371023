package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/page"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// DirOf is the directory of a report, given by it or by the report in it.
func DirOf(report string) string {
	if info, err := os.Stat(report); err == nil && info.Mode().IsRegular() {
		return filepath.Dir(report)
	}
	return report
}

// noReport is the error for a directory without a report.
type noReport struct {
	dir string
	err error
}

// Error implements error.
func (e *noReport) Error() string {
	return fmt.Sprintf("%s is no report directory (no %s)", e.dir, render.JSONFile)
}

// Unwrap returns the error of the file system.
func (e *noReport) Unwrap() error { return e.err }

// ReadReport reads the report of a directory, or the one that is named itself.
func ReadReport(dir string) (reports.Report, error) {
	path, f, err := openReport(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return reports.Report{}, &noReport{dir, err}
	case err != nil:
		return reports.Report{}, fmt.Errorf("opening the report: %w", err)
	}
	defer f.Close()
	report, err := reports.Read(f)
	if err != nil {
		return reports.Report{}, fmt.Errorf("reading %s: %w", path, err)
	}
	return report, nil
}

// openReport opens the report of a directory, which others may have made, or the one that is named
// itself.
func openReport(dir string) (path string, f *os.File, err error) {
	if DirOf(dir) != dir {
		f, err = files.Open(dir)
		return dir, f, err
	}
	f, err = files.OpenBelow(dir, render.JSONFile)
	return filepath.Join(dir, render.JSONFile), f, err
}

// CellsOf returns the cells of a report that patterns select, in its order.
func CellsOf(report reports.Report, patterns []string) ([]reports.Cell, error) {
	planned := make([]plan.Cell, len(report.Cells))
	for i, c := range report.Cells {
		planned[i] = plan.Cell{ID: c.ID, Scenario: c.Scenario}
	}
	chosen, err := plan.Match(planned, patterns)
	ids := cellIDs(chosen)
	return reports.Only(report.Cells, func(c reports.Cell) bool { return slices.Contains(ids, c.ID) }), err
}

// finish compares the runs of the cells of a report, and writes it in all formats,
// and its page.
func finish(ctx context.Context, dir string, report reports.Report) (reports.Report, error) {
	late, cancel := check.Grace(ctx)
	defer cancel()
	compareRuns(dir, &report)
	err := errors.Join(render.WriteDir(dir, report), render.WriteFile(dir, page.Name, func(w io.Writer) error {
		return page.Write(w, Page(late, dir, report))
	}))
	if err != nil {
		return report, Failed(fmt.Errorf("writing the report: %w", err))
	}
	return report, nil
}

// SameDir reports whether two reports, each given as DirOf takes it, have one directory.
func SameDir(a, b string) bool {
	a, b = DirOf(a), DirOf(b)
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errors.Join(errA, errB) == nil {
		return os.SameFile(infoA, infoB)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// roundDir is what holds the cells of the runs of one number below a report's
// directory.
func roundDir(dir string, number int) string {
	return filepath.Join(dir, filepath.FromSlash(reports.RoundDir(number)))
}
