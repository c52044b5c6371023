package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/page"
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
	saved, err := app.ReadReport(dir)
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
	ran, err := rejudge(dir, saved, cells)
	if err != nil {
		return app.Failed(err)
	}
	a, err := list.assembler(cells, nil)
	if err != nil {
		return app.Failed(err)
	}
	a.reproduce = saved.Reproduce // judging again does not change what ran
	report, err := a.assemble(ran)
	if err != nil {
		return app.Failed(err)
	}
	report.Shard, report.Partial = saved.Shard, saved.Partial
	if saved.Unfinished() > 0 && report.Unfinished() == 0 {
		report.Partial = "" // its cells had ended when it was killed
	}
	report.Problems = append(report.Problems, reports.DifferentBinaries(saved.Reproduce.Components)...)
	compareRuns(dir, &report)
	return finish(cmd, out, report, dir, cells)
}

// rejudge judges all saved runs of cells, which are in the order of the report. A
// cell that did not run to its end stays what it was.
func rejudge(dir string, saved reports.Report, cells []plan.Cell) ([]ranCell, error) {
	rounds := make(map[int][]int) // the places of the cells that have a run of a number
	before := make([]map[int]reports.Run, len(cells))
	for i, c := range saved.Cells {
		before[i] = make(map[int]reports.Run)
		for _, r := range c.EachRun() {
			before[i][r.Number] = r
			rounds[r.Number] = append(rounds[r.Number], i)
		}
	}
	var ran []ranCell
	var failures []error
	for _, number := range slices.Sorted(maps.Keys(rounds)) {
		var round []plan.Cell
		for _, i := range rounds[number] {
			round = append(round, cells[i])
		}
		results, err := engine.Rejudge(filepath.Join(dir, filepath.FromSlash(reports.RoundDir(number))), round)
		failures = append(failures, err)
		for n, r := range results {
			i := rounds[number][n]
			if was := saved.Cells[i]; was.Unfinished && (r.Unfinished || r.Outcome == reports.HarnessError) {
				r = was
				r.Runs = nil
			}
			r.Started, r.DurationSeconds = before[i][number].Started, before[i][number].DurationSeconds
			ran = append(ran, ranCell{number, r})
		}
	}
	return ran, errors.Join(failures...)
}

// savedCells plans the cells of a saved report. A cell that neither the catalog
// nor the files have any more can't be judged, and is an error.
func savedCells(saved reports.Report, files []string) ([]plan.Cell, error) {
	known, err := catalog.Cells()
	if err != nil {
		return nil, err
	}
	own, err := app.PlanFiles(files)
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

// formats are what a report of a directory can be printed as.
func formats(dir string) map[string]func(io.Writer, reports.Report) error {
	return map[string]func(io.Writer, reports.Report) error{
		"text": func(w io.Writer, r reports.Report) error {
			return render.Terminal(w, r, render.TerminalOptions{Color: colorful(w)})
		},
		"json": render.JSON, "junit": render.JUnit, "markdown": render.Markdown,
		"findings": render.Findings, "track-record": render.TrackRecord, "matrix": render.MatrixMarkdown,
		"openmetrics": render.OpenMetrics,
		"html":        func(w io.Writer, r reports.Report) error { return printPage(w, r, dir) },
	}
}

func newReport() *cobra.Command {
	names := slices.Sorted(maps.Keys(formats("")))
	var format string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Print a saved report in another format",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			print, ok := formats(args[0])[format]
			if !ok {
				return fmt.Errorf("--output is %q; it can be one of %q", format, names)
			}
			report, err := app.ReadReport(args[0])
			if err != nil {
				return err
			}
			return app.Failed(print(cmd.OutOrStdout(), report))
		},
	}
	cmd.AddCommand(newMerge())
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text, json, junit, markdown, html (the page with everything that happened), findings (the disagreements alone), track-record (the known bugs that were found), matrix (what probes did by releases and gates), or openmetrics (for dashboards of how runs change)")
	completeFormats(cmd, names)
	return cmd
}

// printPage prints the page of a saved report.
func printPage(w io.Writer, report reports.Report, dir string) error {
	content, err := app.Page(dir, report, nil)
	if err != nil {
		return err
	}
	return page.Write(w, content)
}
