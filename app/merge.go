package app

import (
	"errors"
	"fmt"

	"github.com/skewrig/skewrig/reports"
)

// Merge joins the reports of directories into one in another directory, with the
// files of their cells, by a command line.
func Merge(dirs []string, to, command string) (reports.Report, error) {
	var inputs []reports.Input
	var problems []error
	for _, dir := range dirs {
		if SameDir(dir, to) {
			problems = append(problems, fmt.Errorf("%s can't be merged into itself: choose another --report-dir", dir))
		}
		report, err := ReadReport(dir)
		problems = append(problems, err)
		inputs = append(inputs, reports.Input{Name: dir, Report: report})
	}
	if err := errors.Join(append(problems, CheckReportDir(to))...); err != nil {
		return reports.Report{}, err
	}
	report, moved, err := reports.Merge(inputs)
	if err != nil {
		return reports.Report{}, err
	}
	report.Reproduce.Command += "\n" + command
	if err := clearReport(to); err != nil {
		return reports.Report{}, err
	}
	if err := copyRuns(dirs, moved, to); err != nil {
		return reports.Report{}, Failed(err)
	}
	return finish(to, report)
}
