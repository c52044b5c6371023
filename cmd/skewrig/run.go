package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/plan"
)

type runFlags struct {
	binaries
	output
	report   reportDir
	cluster  kubeconfig
	on       provider
	parallel int
	isolate  bool
	host     bool
	keep     bool
	shuffle  seed
	known    string
	runtime  choice
	again    againFlags
	inJobs   jobsFlags
	github   github
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [PATTERN | FILE ...]",
		Short: "Run cells and write a report",
		Long: `Run the selected cells and write a report. Without arguments, run the default
cells: those of the KEPs that need only the default pair of releases. Missing
components are built, and each cell begins when what it needs is there. A PATTERN is
a glob over cell ids: * matches within a segment, ** across segments. The beginning of
ids, such as kep-4939/skew, selects all below it. A FILE is a scenario of your own; all
its cells run, or those that a pattern selects.`,
		Example: `  skewrig run
  skewrig run '**'
  skewrig run kep-4939 kep-5999/skew
  skewrig run ./mine.yaml --report-dir out
  skewrig run ./mine.yaml 'mine/**/kubelet:v1.36.*'
  skewrig run 'kep-4939/skew/**' --repeat 20
  skewrig run --rerun-failed report
  sudo skewrig run --runtime containerd kep-4939/e2e
  skewrig run '**' --shard 1/4 --report-dir shard-1
  skewrig run '**' --jobs 4 --image registry.example/skewrig:1
  skewrig run --provider cluster --context staging ./mine.yaml`,
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	f.cluster.register(cmd, "--provider cluster or --jobs")
	f.on.register(cmd, &f.cluster)
	f.report.register(cmd, "report", "directory for the report; replaces an earlier report of the same cells")
	registerKnown(cmd, &f.known)
	f.again.register(cmd)
	f.inJobs.register(cmd, &f.cluster, "the cells", "repeat", "until-fail", "isolate", "shuffle", "allow-host", "parallel", "known-deviations")
	f.github.register(cmd)
	registerParallel(cmd, &f.parallel)
	cmd.Flags().BoolVar(&f.isolate, "isolate", false, "give each cell a control plane of its own (the default: cells share one where they can't notice)")
	registerAllowHost(cmd, &f.host)
	f.shuffle.register(cmd)
	registerRuntime(cmd, &f.runtime, "; with both, each cell runs on both, and what differs is listed", app.BothRuntimes)
	cmd.Flags().BoolVar(&f.keep, "keep", false, "leave the cluster of the first cell that is not as expected up until Ctrl-C, and say where to look")
	return cmd
}

func (f *runFlags) run(cmd *cobra.Command, args []string) error {
	if err := errors.Join(checkParallel(f.parallel), f.on.check(cmd)); err != nil {
		return err
	}
	if err := f.again.check(cmd, &f.report.dir); err != nil {
		return err
	}
	if err := app.CheckPatterns(args); err != nil {
		return err
	}
	builder, here, err := f.open(cmd)
	if err != nil {
		return err
	}
	cells, err := f.again.cells(cmd.Context(), here, args)
	if err := app.AddProblems(cmd.Context(), err, cells, app.CheckOutside(cells, !f.on.isRig(), f.host)); err != nil {
		return err
	}
	if len(cells) == 0 && f.again.rerun != "" {
		return f.nothingToRerun(cmd, args)
	}
	if here, err = here.Excusing(f.known); err != nil {
		return err
	}
	if cells, err = f.on.onRuntime(cells, f.runtime.value); err != nil {
		return err
	}
	f.on.kind.Releases = builder.Releases()
	if err := errors.Join(app.CheckOutside(cells, !f.on.isRig(), f.host), f.CheckUsed(builder, cells), f.on.kind.CheckUsed(cells)); err != nil {
		return err
	}
	if f.inJobs.wanted(cmd) {
		return f.jobs(cmd, args, cells)
	}
	return f.onThisMachine(cmd, args, builder, here, f.again.ofShard(cmd.ErrOrStderr(), cells))
}

// onThisMachine runs cells, and not in a cluster.
func (f *runFlags) onThisMachine(cmd *cobra.Command, args []string, builder *build.Builder, here app.Catalog, cells []plan.Cell) (err error) {
	ctx := cmd.Context()
	warnUnconfined(cmd, args, f.host || !f.on.isRig())
	cluster, err := f.on.open(ctx, cells)
	if err != nil {
		return err
	}
	kind, done, err := f.on.openKind(cmd, builder, cells)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Failed(done())) }()
	claimed, err := f.report.place(cmd).ClaimFor(cells)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Failed(claimed.Close())) }()
	p := newProgress(news(cmd))
	defer p.close()
	builder.Progress = f.tellBuild(cmd, p)
	built, stop, err := startBuild(ctx, builder, f.on.toBuild(cells))
	if err != nil {
		return err
	}
	defer stop()
	f.listed = tellsEachCell(cmd) && isTerminal(news(cmd)) == isTerminal(cmd.OutOrStdout())
	f.shuffle.tell(cmd)
	options := f.options(cmd, cells, builder, p)
	options.Claimed, options.Catalog = claimed, here
	options.Reproduce = app.Reproduce(f.shuffle.named(publishable(os.Args)), args, version(), nil)
	if cluster != nil {
		options.Existing, options.Built, options.Reproduce = cluster, nil, app.WithCluster(options.Reproduce, cluster)
	}
	if kind != nil {
		options.Kind, options.Built, options.Reproduce = kind, nil, app.WithKind(options.Reproduce)
	}
	if err := app.WithReleases(ctx, builder, &options.Reproduce); err != nil {
		return err
	}
	report, err := app.Run(ctx, cells, options)
	p.close()
	if err == nil && ctx.Err() == nil && cluster == nil && kind == nil {
		err = sayLacking(cmd, cells, built)
	}
	if err != nil {
		return err
	}
	return f.github.tell(cmd, f.output, report, func() error { return finish(cmd, f.output, report, f.report.dir) })
}

// options are what flags say of how cells are run, with what tells of it.
func (f *runFlags) options(cmd *cobra.Command, cells []plan.Cell, builder *build.Builder, p *progress) app.Options {
	o := app.Options{
		Dir: f.report.dir, Binary: builder.Binary, Pending: builder.Pending, Built: builder.Built,
		Shuffle: f.shuffle.value, Shard: f.again.part, Repeat: f.again.repeat, UntilFail: f.again.untilFail, Parallel: f.parallel, Isolate: f.isolate, AllowHost: f.host,
	}
	o.Progress = tellCells(cmd, p, app.NewForecast(cells, o))
	if f.keep {
		o.Keep = keepRig(f.above(cmd, p), f.report.dir)
	}
	return o
}

// tellBuild is tellBuild of any command, and says at once why something can't be built: the cells
// that don't need it run.
func (f *runFlags) tellBuild(cmd *cobra.Command, p *progress) func(build.Progress) {
	tell := tellBuild(cmd, p)
	return func(b build.Progress) {
		tell(b)
		if b.State == build.Failed {
			fmt.Fprintln(f.above(cmd, p), b.Err)
		}
	}
}

// startBuild begins to build what cells need. What stops it leaves nothing at work.
func startBuild(ctx context.Context, builder *build.Builder, cells []plan.Cell) (built func() ([]build.Binary, error), stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	built, err = app.StartBuild(ctx, builder, app.Targets(cells), cells)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return built, func() {
		cancel()
		_, _ = built() // why was said
	}, nil
}

// sayLacking says how many cells need what could not be built. If all of them do, that is an
// error.
func sayLacking(cmd *cobra.Command, cells []plan.Cell, built func() ([]build.Binary, error)) error {
	_, unbuilt := built()
	lacking := app.Lacking(cells, unbuilt)
	switch {
	case len(lacking) == len(cells):
		return unbuilt
	case len(lacking) > 0:
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d cells need what could not be built and are not judged\n", len(lacking), len(cells))
	}
	return nil
}

// nothingToRerun says that a report has nothing to run again, and prints a report of no cells
// where JSON is wanted. What else is wrong with the report is in both, and in the exit code.
func (f *runFlags) nothingToRerun(cmd *cobra.Command, args []string) error {
	saved, err := app.ReadReport(f.again.rerun)
	if err != nil {
		return err
	}
	none, err := reports.Assemble(nil, nil, app.Reproduce(os.Args, args, version(), nil))
	if err != nil {
		return app.Failed(err)
	}
	none.Problems, none.Partial = saved.Problems, saved.Partial
	var wrong []string
	for _, p := range saved.Problems {
		wrong = append(wrong, "has a problem: "+p)
	}
	if saved.Partial != "" {
		wrong = append(wrong, "is partial: "+saved.Partial)
	}
	fmt.Fprintf(news(cmd), "Nothing to rerun: what %s has of the selected cells is as expected\n", f.again.rerun)
	for _, w := range wrong {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s %s\n", f.again.rerun, render.VisibleWhole(w))
	}
	if f.json() {
		err = app.Failed(printJSON(cmd.OutOrStdout(), none))
	}
	if err != nil || len(wrong) == 0 {
		return err
	}
	return exit(reports.ExitCode(none))
}

// above is where to say what has to be said, also if nothing else is: above what is at work.
func (f *runFlags) above(cmd *cobra.Command, p *progress) io.Writer {
	if is(cmd, "quiet") {
		return cmd.ErrOrStderr()
	}
	return p.out
}
