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

var _ = register(startHere, newReport)

func newReport() *cobra.Command {
	return newParent(&cobra.Command{
		Use:   "report",
		Short: "Show a report, compare two, merge, judge again, draft issues",
		Long: `Show a saved report, compare two, merge several, judge one again, list its findings,
and draft the issues that report them. Without a subcommand, it is skewrig report show.`,
		Example: `  skewrig report
  skewrig report diff yesterday today`,
	}, true, newReportShow(), newDiff(), newMerge(), newJudge(), newFindings(), newIssue(), newTrend())
}

func newReportShow() *cobra.Command {
	var format choice
	var dir, texts string
	cmd := &cobra.Command{
		Use:   "show [DIR] [PATTERN ...]",
		Short: "Print a saved report, or some of its cells, in another format",
		Long: `Print a saved report. With patterns, print all that is known of the cells that they
select: each check with what was expected and observed, why it does not hold, and where
the evidence is. With --report, or if the first argument is no file and selects cells of
the default report, all arguments are patterns.`,
		Example: `  skewrig report show
  skewrig report show yesterday
  skewrig report show -f report kep-4939/gate
  skewrig report show yesterday -o junit > junit.xml
  skewrig report show -o html > report/index.html`,
		RunE: func(cmd *cobra.Command, args []string) error {
			patterns := args
			if len(args) > 0 && !selectsCells(dir, args) {
				dir, patterns = dirFirst(cmd, dir, args)
			}
			w := cmd.OutOrStdout()
			if len(patterns) > 0 {
				if format.value != "text" {
					return fmt.Errorf("-o %s prints a report as a whole: leave out the patterns %s", format.value, strings.Join(patterns, " "))
				}
				return printCells(cmd.Context(), w, dir, patterns)
			}
			report, err := app.ReadReport(dir)
			if err != nil {
				return err
			}
			switch format.value {
			case "findings": // what skewrig report findings was
				fmt.Fprintln(news(cmd), "skewrig report -o findings is now skewrig report findings -o markdown; the old name goes with the next release")
				return printFindings(cmd, &findingsFlags{dir, texts}, "markdown", nil)
			case "html":
				return printPage(cmd, dir, texts, report)
			case "text":
				return app.Failed(render.Terminal(w, report, render.TerminalOptions{Color: colorful(w), Width: columns(w), Causes: app.CausesOf(cmd.Context(), dir)}))
			}
			return app.Failed(formats[format.value](w, report))
		},
	}
	registerReport(cmd, &dir, "f")
	format.register(cmd, "output", "o", "text", "text, json, junit, markdown, html (the page), or track-record (known regressions)", append(slices.Sorted(maps.Keys(formats)), "html", "text", "findings")...)
	registerTexts(cmd, &texts)
	return cmd
}

// selectsCells reports whether arguments, the first of which is no file, select cells of a saved report.
func selectsCells(dir string, args []string) bool {
	if exists(args[0]) {
		return false
	}
	report, err := app.ReadReport(dir)
	if err != nil {
		return false
	}
	cells, err := app.CellsOf(report, args)
	return err == nil && len(cells) > 0
}

// formats are what a report can be printed as that needs nothing else.
var formats = map[string]func(io.Writer, reports.Report) error{
	"json": render.JSON[reports.Report], "junit": render.JUnit, "markdown": render.Markdown, "track-record": render.TrackRecord,
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
	var dir, known string
	cmd := &cobra.Command{
		Use:   "judge [DIR] [FILE ...]",
		Short: "Judge a saved run again, with today's checks",
		Long: `Judge the records in a report directory again, with the checks of this skewrig's
catalog and of the given scenario files. Nothing runs. The report and its page are
replaced, and a line says which outcomes changed; with --report-dir they stay, and
the new ones go there, with the files of the cells.`,
		Example: `  skewrig report judge
  skewrig report judge yesterday mine.yaml --report-dir report-today`,
		RunE: func(cmd *cobra.Command, args []string) error {
			files := args
			if len(args) > 0 && !app.IsFile(args[0]) {
				dir, files = dirFirst(cmd, dir, args)
			}
			here, err := planning(cmd.Context(), app.Here)
			if err != nil {
				return err
			}
			if here, err = here.Excusing(known); err != nil {
				return err
			}
			if to.dir == "" {
				to.dir = app.DirOf(dir)
			}
			report, err := here.Judge(cmd.Context(), dir, files, to.place(cmd))
			if err != nil {
				return err
			}
			return finish(cmd, out, report, to.dir)
		},
	}
	out.register(cmd)
	registerReport(cmd, &dir, "f")
	to.register(cmd, "", "directory for the report (default: the one that is judged)")
	registerKnown(cmd, &known)
	return cmd
}
