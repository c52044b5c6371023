package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

type runFlags struct {
	binaries
	output
	reportDir string
	parallel  int
	matrix    bool
	known     deviations
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [PATTERN | FILE ...]",
		Short: "Run scenarios and report",
		Long: `Run the cells that the arguments name, and write a report. Without arguments,
run what the default pair of releases shows of the KEPs. What is needed is built
first. A pattern is a glob over cell ids: * matches within a segment, ** across
segments.`,
		Example: `  skewrig run
  skewrig run '**'
  skewrig run 'kep-4939/**' 'kep-5999/**'
  skewrig run ./mine.yaml --report-dir out`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.parallel < 1 {
				return fmt.Errorf("--parallel is %d; it must be at least 1", f.parallel)
			}
			return f.run(cmd, args)
		},
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	cmd.Flags().StringVar(&f.reportDir, "report-dir", "report", "where the report goes; an earlier report there is replaced")
	f.known.register(cmd)
	cmd.Flags().IntVar(&f.parallel, "parallel", defaultParallel(), "how many cells run at the same time")
	cmd.Flags().BoolVar(&f.matrix, "matrix", false, "also print what probes put on the wire, and how that went, by releases and gates (in JSON it is what each cell observed)")
	return cmd
}

// defaultParallel follows the cores and the memory: a rig keeps a core busy
// while it starts, and is mostly idle afterwards.
func defaultParallel() int {
	return max(1, min(2*runtime.NumCPU()+1, int(host().MemoryBytes/rigMemory)))
}

// rigMemory is what a rig may need, in bytes.
const rigMemory = 1 << 30

func (f *runFlags) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	cells, err := selectCells(args)
	if err != nil {
		return err
	}
	deviations, err := f.known.load()
	if err != nil {
		return err
	}
	builder, err := f.builder(ctx)
	if err != nil {
		return err
	}
	if err := f.unused(ctx, targets(cells)); err != nil {
		return err
	}
	if err := checkReportDir(f.reportDir); err != nil {
		return err
	}
	built, err := f.build(cmd, builder, targets(cells))
	if err != nil {
		return buildFailed(err, cells...)
	}
	if err := clearReport(f.reportDir); err != nil {
		return failed(err)
	}
	tell, done := cellProgress(cmd.ErrOrStderr(), len(cells), deviations)
	e := &engine.Engine{Binary: builder.Binary, Dir: f.reportDir, Parallel: f.parallel, Progress: tell}
	results, err := e.Run(ctx, cells)
	done()
	if err != nil {
		return err
	}
	report, err := deviations.assemble(results, cells, built)
	if err != nil {
		return failed(err)
	}
	if f.matrix && !f.json() {
		if err := render.Matrix(cmd.OutOrStdout(), report); err != nil {
			return failed(err)
		}
	}
	return finish(cmd, f.output, report, f.reportDir)
}

// finish writes and prints a report and turns it into an exit code.
func finish(cmd *cobra.Command, out output, report reports.Report, dir string) error {
	if err := render.WriteDir(dir, report); err != nil {
		return failed(fmt.Errorf("writing the report: %w", err))
	}
	if err := printReport(cmd, out, report, dir); err != nil {
		return failed(err)
	}
	if code := reports.ExitCode(report); code != 0 {
		return exitCode(code)
	}
	return nil
}

func printReport(cmd *cobra.Command, out output, report reports.Report, dir string) error {
	if out.json() {
		return printJSON(cmd.OutOrStdout(), report)
	}
	return render.Terminal(cmd.OutOrStdout(), report, render.TerminalOptions{Report: dir, Color: colorful(os.Stdout)})
}

// targets are the binaries that cells need.
func targets(cells []plan.Cell) []build.Target {
	var all []build.Target
	for _, t := range plan.Targets(cells) {
		all = append(all, target(t))
	}
	return all
}

func target(t plan.Target) build.Target {
	return build.Target{Component: build.Component(t.Component), Version: t.Version, Clock: t.OwnClock}
}

// checkReportDir refuses a directory that holds somebody else's cells.
func checkReportDir(dir string) error {
	_, err := os.Stat(filepath.Join(dir, render.JSONFile))
	cells, cellsErr := os.Stat(filepath.Join(dir, "cells"))
	if errors.Is(err, fs.ErrNotExist) && cellsErr == nil {
		return fmt.Errorf("%s has %s and no report: remove it, or choose another --report-dir", dir, cells.Name())
	}
	return nil
}

// clearReport removes what an earlier run left in the report directory.
func clearReport(dir string) error {
	for _, name := range []string{render.JSONFile, render.JUnitFile, render.MarkdownFile, "cells"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o755)
}

// components are the binaries that took part, for the report.
func components(built []build.Binary) []reports.Component {
	var all []reports.Component
	for _, b := range built {
		all = append(all, reports.Component{
			Name: string(b.Component), Version: string(b.Version), Source: b.Source, Digest: b.Digest,
		})
	}
	slices.SortFunc(all, func(a, b reports.Component) int {
		return strings.Compare(a.Name+" "+a.Version, b.Name+" "+b.Version)
	})
	return slices.Compact(all)
}
