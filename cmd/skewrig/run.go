package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
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
	again     againFlags
	github    github
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [PATTERN | FILE ...]",
		Short: "Run scenarios and report",
		Long: `Run the cells that the arguments name, and write a report. Without arguments,
run what the default pair of releases shows of the KEPs. What is needed is built
first. A pattern is a glob over cell ids: * matches within a segment, ** across
segments. A FILE is a scenario of your own, of which all cells are run, or those
that a pattern chooses.`,
		Example: `  skewrig run
  skewrig run '**'
  skewrig run 'kep-4939/**' 'kep-5999/**'
  skewrig run ./mine.yaml --report-dir out
  skewrig run ./mine.yaml 'mine/**/kubelet:v1.36.3'
  skewrig run 'kep-4939/skew/**' --repeat 20
  skewrig run --rerun-failed report
  skewrig run '**' --shard 1/4 --report-dir shard-1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if err := f.github.check(); err != nil {
				return err
			}
			if f.parallel < 1 {
				return fmt.Errorf("--parallel is %d; it must be at least 1", f.parallel)
			}
			if err := f.again.check(cmd, &f.reportDir); err != nil {
				return err
			}
			return f.run(cmd, args)
		},
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	cmd.Flags().StringVar(&f.reportDir, "report-dir", "report", "where the report goes; an earlier report there is replaced")
	f.known.register(cmd)
	f.again.register(cmd)
	f.github.register(cmd)
	cmd.Flags().IntVar(&f.parallel, "parallel", defaultParallel(), "how many cells run at the same time")
	cmd.Flags().Lookup("parallel").DefValue = "what cores and memory allow" // the same help on all machines
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
	cells, err := f.again.failedBefore(args)
	if err != nil {
		return err
	}
	if len(cells) == 0 && f.again.rerun != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "Nothing to run again: what was asked for is as expected in %s\n", f.again.rerun)
		return nil
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
	cells = f.again.ofShard(cmd.ErrOrStderr(), cells)
	if err := app.CheckReportDir(f.reportDir); err != nil {
		return err
	}
	built, err := f.build(cmd, builder, targets(cells))
	if err != nil {
		return buildFailed(err, cells...)
	}
	expected := newForecast(runLabels(cells, f.again.repeat), f.parallel, durations(f.reportDir))
	if err := app.ClearReport(f.reportDir); err != nil {
		return err
	}
	tell, done := cellProgress(cmd, expected, deviations)
	a, err := deviations.assembler(cells, built)
	if err != nil {
		return app.Failed(err)
	}
	s := &runner{
		cells: cells, dir: f.reportDir, assembler: a, shard: f.again.part,
		repeat: f.again.repeat, untilFail: f.again.untilFail, parallel: f.parallel, tell: tell,
		round: func(ctx context.Context, dir string, parallel int, cells []plan.Cell, tell func(engine.Progress)) error {
			e := &engine.Engine{Binary: builder.Binary, Dir: dir, Parallel: parallel, Progress: tell}
			_, err := e.Run(ctx, cells)
			return err
		},
	}
	report, err := s.run(ctx)
	done()
	if err != nil {
		return err
	}
	if f.matrix && !f.json() {
		if err := render.Matrix(cmd.OutOrStdout(), report); err != nil {
			return app.Failed(err)
		}
	}
	return f.github.tell(cmd, f.output, report, func() error { return finish(cmd, f.output, report, f.reportDir, cells) })
}

// finish writes and prints a report of cells and turns it into an exit code.
func finish(cmd *cobra.Command, out output, report reports.Report, dir string, cells []plan.Cell) error {
	if err := app.WriteReport(dir, report, cells); err != nil {
		return err
	}
	if err := printReport(cmd, out, report, dir); err != nil {
		return app.Failed(err)
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
	return render.Terminal(cmd.OutOrStdout(), report, render.TerminalOptions{Report: dir, Color: colorful(cmd.OutOrStdout())})
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
