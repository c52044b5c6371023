package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/page"
	"github.com/skewrig/skewrig/reports/render"
)

func newReport() *cobra.Command {
	var format choice
	var texts string
	cmd := &cobra.Command{
		Use:   "report DIR [PATTERN ...]",
		Short: "Print a saved report, or some of its cells, in another format",
		Long: `Print a saved report. With patterns, print all that is known of the cells that they
select: each check with what was expected and observed, why it does not hold, and where
the evidence is.`,
		Example: `  skewrig report report
  skewrig report report kep-4939/gate
  skewrig report report -o html > report/index.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			if len(args) > 1 {
				if format.value != "text" {
					return fmt.Errorf("-o %s prints a report as a whole: leave out the patterns %s", format.value, strings.Join(args[1:], " "))
				}
				return printCells(cmd.Context(), w, args[0], args[1:])
			}
			if format.value == "findings" {
				report, all, err := app.Findings(args[0], texts)
				if err != nil {
					return err
				}
				app.InWords(cmd.Context(), args[0], report, all)
				return app.Failed(render.Findings(w, report, all))
			}
			report, err := app.ReadReport(args[0])
			if err != nil {
				return err
			}
			if format.value == "html" {
				return printPage(cmd, args[0], texts, report)
			}
			if format.value == "text" {
				return app.Failed(render.Terminal(w, report, render.TerminalOptions{Color: colorful(w), Width: columns(w), Causes: app.CausesOf(cmd.Context(), args[0])}))
			}
			return app.Failed(formats[format.value](w, report))
		},
	}
	cmd.AddCommand(newMerge())
	format.register(cmd, "output", "o", "text", "text, json, junit, markdown, html (the page), findings (deviations only), or track-record (known regressions)",
		append(slices.Sorted(maps.Keys(formats)), "findings", "html", "text")...)
	registerTexts(cmd, &texts)
	return cmd
}

// formats are what a report can be printed as that needs nothing else.
var formats = map[string]func(io.Writer, reports.Report) error{
	"json": render.JSON[reports.Report], "junit": render.JUnit, "markdown": render.Markdown,
	"track-record": render.TrackRecord,
}

// printPage prints the page of a report, and says to the reader what it lacks.
func printPage(cmd *cobra.Command, dir, texts string, report reports.Report) (err error) {
	run := app.Page(cmd.Context(), dir, report)
	if run.Sentences, err = app.Sentences(texts); err != nil {
		return err
	}
	if lacks := run.Incomplete(); len(lacks) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "The page has no timeline, or no logs, of %s: %s lacks their plans, records or logs\n", reports.Counted(len(lacks), "cell"), app.DirOf(dir))
	}
	return app.Failed(page.Write(cmd.OutOrStdout(), run))
}

// printCells prints what a saved report has of the cells that patterns select.
func printCells(ctx context.Context, w io.Writer, dir string, patterns []string) error {
	report, err := app.ReadReport(dir)
	if err != nil {
		return err
	}
	cells, err := app.CellsOf(report, patterns)
	if err != nil {
		return err
	}
	return app.Failed(render.CellsTerminal(w, report, cells, render.TerminalOptions{Report: app.DirOf(dir), Page: page.Name, Color: colorful(w), Width: columns(w), Causes: app.CausesOf(ctx, dir)}))
}

func newMerge() *cobra.Command {
	var out output
	var to reportDir
	cmd := &cobra.Command{
		Use:   "merge DIR ... --report-dir OUT",
		Short: "Join the reports of shards and of repeated runs",
		Long: `Join reports into one, with the files of their cells. Cells that are in one report
are copied; those that are in several become repetitions of one cell, which is flaky
if they disagree. A cell that ran to its end replaces one that did not, and one that was
judged replaces one that is unknown.

The directories of the shards of a sweep are joined into the whole sweep.`,
		Example: `  skewrig report merge shard-1 shard-2 --report-dir report
  skewrig report merge report report-rerun --report-dir both`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.ContainsFunc(args, app.IsSweep) {
				swept, err := app.JoinSweeps(args, to.dir, app.CommandLine(os.Args), nil)
				if err != nil {
					return err
				}
				return finishSweep(cmd, out, swept, to.dir)
			}
			report, err := app.Merge(cmd.Context(), args, to.place(cmd), app.CommandLine(os.Args))
			if err != nil {
				return err
			}
			return finish(cmd, out, report, to.dir)
		},
	}
	out.register(cmd)
	to.register(cmd, "", "directory for the merged report; replaces an earlier report of the same cells")
	_ = cmd.MarkFlagRequired("report-dir") // it exists
	return cmd
}

func newJudge() *cobra.Command {
	var out output
	var to reportDir
	var known string
	cmd := &cobra.Command{
		Use:   "judge DIR [FILE ...]",
		Short: "Judge a saved run again, with today's checks",
		Long: `Judge the records in a report directory again, with the checks of this skewrig's
catalog and of the given scenario files. Nothing runs. The report and its page are
replaced, and a line says which outcomes changed; with --report-dir they stay, and
the new ones go there, with the files of the cells.`,
		Example: `  skewrig judge report
  skewrig judge report mine.yaml --report-dir report-today`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			here, err := planning(cmd.Context(), app.Here)
			if err != nil {
				return err
			}
			if here, err = here.Excusing(known); err != nil {
				return err
			}
			if to.dir == "" {
				to.dir = app.DirOf(args[0])
			}
			report, err := here.Judge(cmd.Context(), args[0], args[1:], to.place(cmd))
			if err != nil {
				return err
			}
			return finish(cmd, out, report, to.dir)
		},
	}
	out.register(cmd)
	to.register(cmd, "", "directory for the report (default DIR)")
	registerKnown(cmd, &known)
	return cmd
}
