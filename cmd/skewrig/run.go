package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

var _ = register(startHere, newRun)

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
	dryRun   bool
	watch    bool
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
its cells run, or those that a pattern selects.

With --dry-run, print the steps and start nothing. With --watch, run the cells again
whenever a FILE, another YAML file beside it, a file of --overlay or one of a --source
changes, until Ctrl-C. Control planes stay up in between, and only nodes are new; a control
plane that a cell changes is replaced after the run. A change during a run breaks it off.`,
		Example: `  skewrig run
  skewrig run '**'
  skewrig run kep-4939 kep-5999/skew
  skewrig run kep-4188 --newest v1.36 --previous v1.35
  skewrig run ./mine.yaml --dry-run
  skewrig run ./mine.yaml --watch --source kubelet=../kubernetes
  skewrig run ./mine.yaml 'mine/**/kubelet:v1.36.*' --report-dir out
  skewrig run 'kep-4939/skew/**' --repeat 20
  skewrig run --rerun-failed report
  sudo skewrig run --runtime containerd kep-4939/e2e
  skewrig run '**' --shard 1/4 --report-dir shard-1
  skewrig run '**' --jobs 4 --provider-config settings.yaml
  skewrig run --provider cluster ./mine.yaml
  skewrig run --provider cluster --provider-config settings.yaml ./mine.yaml    # with the line "cluster: {context: staging}"`,
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	f.cluster.register(cmd, "--provider cluster or --jobs")
	f.on.register(cmd, &f.cluster)
	f.report.register(cmd, defaultReport, "directory for the report; replaces an earlier report of the same cells")
	registerKnown(cmd, &f.known)
	f.again.register(cmd)
	f.inJobs.register(cmd, &f.cluster, "the cells", "repeat", "until-fail", "isolate", "shuffle", "allow-host", "parallel", "known-deviations")
	f.github.register(cmd)
	registerParallel(cmd, &f.parallel)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the steps of the cells and start nothing")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "run a scenario FILE again whenever it changes, until Ctrl-C")
	cmd.Flags().BoolVar(&f.isolate, "isolate", false, "give each cell a control plane of its own (the default: cells share one where they can't notice)")
	registerAllowHost(cmd, &f.host)
	f.shuffle.register(cmd)
	registerRuntime(cmd, &f.runtime, "; with both, each cell runs on both, and what differs is listed", app.BothRuntimes)
	cmd.Flags().BoolVar(&f.keep, "keep", false, "leave the cluster of the first cell that is not as expected up until Ctrl-C, and say where to look")
	for _, other := range []string{"dry-run", "jobs", "keep", "rerun-failed", "provider"} {
		cmd.MarkFlagsMutuallyExclusive("watch", other)
	}
	cmd.MarkFlagsMutuallyExclusive("dry-run", "jobs")
	return cmd
}

func (f *runFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.on.configure(cmd); err != nil {
		return err
	}
	if err := errors.Join(checkParallel(f.parallel), f.on.check(cmd)); err != nil {
		return err
	}
	if err := f.again.check(cmd, &f.report.dir); err != nil {
		return err
	}
	if err := app.CheckPatterns(args); err != nil {
		return err
	}
	if f.watch {
		return f.watchFiles(cmd, args)
	}
	r := &cellsRun{runFlags: f, cmd: cmd, args: args}
	return errors.Join(r.once(cmd.Context()), r.close())
}

// cellsRun is a run of cells, or several of them one after the other.
type cellsRun struct {
	*runFlags
	cmd  *cobra.Command
	args []string
	warm *rig.Warm // if unset, nothing stays up from one run to the next

	builder *build.Builder
	here    app.Catalog
	claimed *app.ReportDir // nil until the first run
}

// close gives back what stays from one run to the next.
func (r *cellsRun) close() (err error) {
	if r.warm != nil {
		err = r.warm.Close()
	}
	if r.claimed != nil {
		err = errors.Join(err, r.claimed.Close())
	}
	return app.Failed(err)
}

// once selects the cells, runs them and prints the report. With --dry-run, it prints their steps.
func (r *cellsRun) once(ctx context.Context) error {
	cells, err := r.selected(ctx)
	if err != nil {
		return err
	}
	switch {
	case r.dryRun:
		return r.printPlan(ctx, r.again.ofShard(r.cmd.ErrOrStderr(), cells))
	case len(cells) == 0 && r.again.rerun != "":
		return r.nothingToRerun(r.cmd, r.args)
	}
	if cells, err = r.ready(cells); err != nil {
		return err
	}
	if r.inJobs.wanted(r.cmd) {
		return r.jobs(r.cmd, r.args, cells)
	}
	return r.onThisMachine(ctx, r.again.ofShard(r.cmd.ErrOrStderr(), cells))
}

// selected opens the builder and the catalog, and returns the cells that the arguments select.
func (r *cellsRun) selected(ctx context.Context) (cells []plan.Cell, err error) {
	if r.builder, r.here, err = r.open(r.cmd); err != nil {
		return nil, err
	}
	cells, err = r.again.cells(ctx, r.here, r.args)
	outside := r.checkOutside(cells)
	if r.dryRun {
		err = cmp.Or(err, outside)
	}
	return cells, app.AddProblems(ctx, err, cells, outside)
}

func (r *cellsRun) checkOutside(cells []plan.Cell) error {
	return app.CheckOutside(cells, !r.on.isRig(), r.host)
}

// ready returns the cells as they are run. Everything that is wrong with flags for them is reported.
func (r *cellsRun) ready(cells []plan.Cell) (_ []plan.Cell, err error) {
	if r.here, err = r.here.Excusing(r.known); err != nil {
		return nil, err
	}
	if cells, err = r.on.onRuntime(cells, r.runtime.value); err != nil {
		return nil, err
	}
	r.on.kind.Releases = r.builder.Releases()
	return cells, errors.Join(r.checkOutside(cells), r.CheckUsed(r.builder, cells), r.on.kind.CheckUsed(cells))
}

// printPlan prints the steps of cells.
func (r *cellsRun) printPlan(ctx context.Context, cells []plan.Cell) error {
	unknown, err := app.CheckReleases(ctx, cells)
	if err != nil {
		return err
	}
	for _, why := range slices.Sorted(maps.Keys(unknown)) {
		fmt.Fprintf(news(r.cmd), "Not checked whether %s exists: %s\n", strings.Join(unknown[why], ", "), why)
	}
	return printResult(r.cmd, r.output, cells, func(w io.Writer, cells []plan.Cell) {
		for i, cell := range cells {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprint(w, plan.Print(cell))
		}
	})
}

// onThisMachine runs cells, and not in a cluster.
func (r *cellsRun) onThisMachine(ctx context.Context, cells []plan.Cell) (err error) {
	warnUnconfined(r.cmd, r.args, r.host || !r.on.isRig())
	on, done, err := r.on.open(r.cmd, r.builder, cells)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Failed(done())) }()
	if r.claimed == nil {
		claimed, err := r.report.place(r.cmd).ClaimFor(cells)
		if err != nil {
			return err
		}
		r.claimed = claimed
	}
	p := newProgress(news(r.cmd))
	defer p.close()
	r.builder.Progress = r.tellBuild(r.cmd, p)
	built, stop, err := startBuild(ctx, r.builder, r.on.toBuild(cells))
	if err != nil {
		return err
	}
	defer stop()
	r.listed = !r.watch && tellsEachCell(r.cmd) && isTerminal(news(r.cmd)) == isTerminal(r.cmd.OutOrStdout())
	r.shuffle.tell(r.cmd)
	options := r.options(cells, p)
	options.Reproduce = r.on.reproduce(app.Reproduce(r.shuffle.named(publishable(os.Args)), r.args, version(), nil))
	if on != nil {
		options.Provider, options.Built = on, nil
	}
	if err := app.WithReleases(ctx, r.builder, &options.Reproduce); err != nil {
		return err
	}
	report, err := app.Run(ctx, cells, options)
	p.close()
	if err == nil && ctx.Err() == nil && r.on.isRig() {
		err = reportUnbuildable(r.cmd, cells, built)
	}
	if err != nil || r.watch && ctx.Err() != nil {
		return err
	}
	return r.github.tell(r.cmd, r.output, report, func() error { return finish(r.cmd, r.output, report, r.report.dir) })
}

// options are what flags say of how cells are run, with what tells of it.
func (r *cellsRun) options(cells []plan.Cell, p *progress) app.Options {
	o := app.Options{
		Dir: r.report.dir, Claimed: r.claimed, Catalog: r.here, Warm: r.warm, Binary: r.builder.Binary, Pending: r.builder.Pending, Built: r.builder.Built,
		Shuffle: r.shuffle.value, Shard: r.again.part, Repeat: r.again.repeat, UntilFail: r.again.untilFail, Parallel: r.parallel, Isolate: r.isolate, AllowHost: r.host,
	}
	o.Progress = tellCells(r.cmd, p, app.NewForecast(cells, o))
	if r.keep {
		o.Keep = keepRig(r.above(r.cmd, p), r.report.dir)
	}
	return o
}

// tellBuild is tellBuild of any command, and says at once why something can't be built: the cells
// that don't need it run.
func (f *runFlags) tellBuild(cmd *cobra.Command, p *progress) func(build.Progress) {
	tell := tellBuild(cmd, p)
	return func(b build.Progress) {
		if !f.onlyNew || b.State != build.Cached {
			tell(b)
		}
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

// reportUnbuildable says how many cells need what could not be built. If all of them do, that is an
// error.
func reportUnbuildable(cmd *cobra.Command, cells []plan.Cell, built func() ([]build.Binary, error)) error {
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
