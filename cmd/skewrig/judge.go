package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

func newJudge() *cobra.Command {
	var out output
	var deviations deviations
	cmd := &cobra.Command{
		Use:   "judge DIR [FILE ...]",
		Short: "Judge a saved run again, with today's checks",
		Long: `Judge the histories in a report directory again, with the checks of this
skewrig's catalog and of the scenario files that are named, and replace the
report and its pictures. Nothing is run.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return judge(cmd, out, deviations, args[0], args[1:])
		},
	}
	out.register(cmd)
	deviations.register(cmd)
	return cmd
}

func judge(cmd *cobra.Command, out output, deviations deviations, dir string, files []string) error {
	saved, err := readReport(dir)
	if err != nil {
		return err
	}
	cells, err := savedCells(saved, files)
	if err != nil {
		return err
	}
	list, err := deviations.load()
	if err != nil {
		return err
	}
	results, err := engine.Rejudge(dir, cells)
	if err != nil {
		return failed(err)
	}
	before := make(map[string]reports.Cell)
	for _, c := range saved.Cells {
		before[c.ID] = c
	}
	for i, r := range results {
		results[i].Started, results[i].DurationSeconds = before[r.ID].Started, before[r.ID].DurationSeconds
	}
	report, err := list.assemble(results, cells, nil)
	if err != nil {
		return failed(err)
	}
	report.Reproduce = saved.Reproduce // judging again does not change what ran
	return finish(cmd, out, report, dir)
}

// savedCells plans the cells of a saved report. A cell that neither the catalog
// nor the files have any more can't be judged, and is an error.
func savedCells(saved reports.Report, files []string) ([]plan.Cell, error) {
	known, err := catalog.Cells()
	if err != nil {
		return nil, err
	}
	own, err := planFiles(files)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]plan.Cell)
	for _, c := range slices.Concat(known, own) {
		byID[c.ID] = c
	}
	var cells []plan.Cell
	var missing []error
	for _, c := range saved.Cells {
		cell, ok := byID[c.ID]
		if !ok {
			missing = append(missing, fmt.Errorf("cell %s is neither in the catalog nor in the files %q", c.ID, files))
			continue
		}
		cells = append(cells, cell)
	}
	return cells, errors.Join(missing...)
}

func readReport(dir string) (reports.Report, error) {
	path := filepath.Join(dir, render.JSONFile)
	f, err := os.Open(path)
	if err != nil {
		return reports.Report{}, fmt.Errorf("opening the report: %w", err)
	}
	defer f.Close()
	report, err := reports.Read(f)
	if err != nil {
		return reports.Report{}, fmt.Errorf("reading %s: %w", path, err)
	}
	return report, nil
}

func newReport() *cobra.Command {
	formats := map[string]func(io.Writer, reports.Report) error{
		"text": func(w io.Writer, r reports.Report) error {
			return render.Terminal(w, r, render.TerminalOptions{Color: colorful(os.Stdout)})
		},
		"json": render.JSON, "junit": render.JUnit, "markdown": render.Markdown,
		"findings": render.Findings, "track-record": render.TrackRecord, "matrix": render.MatrixMarkdown,
	}
	var format string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Print a saved report in another format",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			print, ok := formats[format]
			if !ok {
				return fmt.Errorf("--output is %q; it can be one of %q", format, slices.Sorted(maps.Keys(formats)))
			}
			report, err := readReport(args[0])
			if err != nil {
				return err
			}
			return failed(print(cmd.OutOrStdout(), report))
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text, json, junit, markdown, findings (the disagreements alone), track-record (the known bugs that were found), or matrix (what probes did by releases and gates)")
	return cmd
}
