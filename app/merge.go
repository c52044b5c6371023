package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/skewrig/skewrig/reports"
)

// Merge joins the reports of directories into one in another directory, with the
// files of their cells, by a command line.
func Merge(ctx context.Context, dirs []string, place Place, command string) (_ reports.Report, err error) {
	to := place.Dir
	var inputs []reports.Input
	var from []string // where the files of their cells are
	var problems []error
	for _, dir := range dirs {
		report, err := ReadReport(dir)
		problems = append(problems, notItself(dir, to), err)
		inputs = append(inputs, reports.Input{Name: dir, Report: report})
		from = append(from, DirOf(dir))
	}
	files, err := fileNames(to)
	if err := errors.Join(append(problems, err, foreign(to, files))...); err != nil {
		return reports.Report{}, err
	}
	report, moved, err := reports.Merge(inputs)
	if err != nil {
		return reports.Report{}, err
	}
	report.Reproduce.Command += "\n" + command
	cells := reports.Each(report.Cells, func(c reports.Cell) string { return c.ID })
	claimed, err := place.Claim(cells)
	if err != nil {
		return reports.Report{}, err
	}
	defer func() { err = errors.Join(err, Failed(claimed.Close())) }()
	if err := claimed.replaceCells(func(dir string) error { return copyRuns(from, moved, dir) }); err != nil {
		return reports.Report{}, Failed(err)
	}
	return finish(ctx, to, report)
}

// notItself is an error if what is in a directory is to be merged into that.
func notItself(dir, to string) error {
	if SameDir(dir, to) {
		return fmt.Errorf("%s can't be merged into itself: choose another --report-dir", dir)
	}
	return nil
}
