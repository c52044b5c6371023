package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

type devFlags struct {
	binaries
	output
	report   reportDir
	known    string
	parallel int
	host     bool
}

func newDev() *cobra.Command {
	var f devFlags
	cmd := &cobra.Command{
		Use:   "dev FILE [PATTERN ...]",
		Short: "Run a scenario again whenever its file changes",
		Long: `Run the cells of a scenario file, and run them again whenever the file, another YAML
file beside it, a file of --overlay or one of a --source changes, until Ctrl-C. With patterns, run the cells
that they select.

Control planes stay up in between: only nodes are new in each run. A control plane that a
cell changes is replaced after the run. A change during a run breaks the run off. Unlike
skewrig run, a cell that comes out red beside others does not run again alone.`,
		Example: `  skewrig dev ./mine.yaml
  skewrig dev ./mine.yaml 'mine/**/kubelet:v1.36.*'
  skewrig dev ./mine.yaml --overlay kubelet:pkg/probe/grpc/grpc.go=./grpc.go
  skewrig dev ./mine.yaml --source kubelet=../kubernetes`,
		Args: cobra.MinimumNArgs(1),
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	f.report.register(cmd, "report", "directory for the report; each run replaces it")
	registerKnown(cmd, &f.known)
	registerParallel(cmd, &f.parallel)
	registerAllowHost(cmd, &f.host)
	return cmd
}

func (f *devFlags) run(cmd *cobra.Command, args []string) (err error) {
	if err := checkParallel(f.parallel); err != nil {
		return err
	}
	ctx := cmd.Context()
	files := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return !app.IsFile(arg) })
	if len(files) == 0 {
		return fmt.Errorf("%s: none is a scenario file, which ends in .yaml or .yml", strings.Join(args, " "))
	}
	releases, err := release.Choose(f.Newest, f.Previous)
	if err != nil {
		return err
	}
	overlays, err := f.Overlaid(releases)
	if err != nil {
		return err
	}
	var compiled []string
	for _, o := range overlays {
		compiled = append(compiled, o.File)
	}
	directories, err := f.Directories()
	if err != nil {
		return err
	}
	changes, err := app.Watch(ctx, files, compiled, directories)
	if err != nil {
		return err
	}
	f.onlyNew = true // at each change, all is there but what has changed
	d := &dev{devFlags: f, cmd: cmd, args: args, warm: engine.NewWarm()}
	defer func() { err = errors.Join(err, app.Failed(d.close())) }()
	for ctx.Err() == nil {
		d.untilChange(ctx, changes)
	}
	return nil
}

// dev is what stays from one run to the next.
type dev struct {
	*devFlags
	cmd     *cobra.Command
	args    []string
	warm    *engine.Warm
	claimed *app.ReportDir // nil until the first run
}

func (d *dev) close() error {
	err := d.warm.Close()
	if d.claimed != nil {
		err = errors.Join(err, d.claimed.Close())
	}
	return err
}

// untilChange runs the cells, and waits for a change. One that comes before the end breaks the
// run off.
func (d *dev) untilChange(ctx context.Context, changes <-chan string) {
	running, breakOff := context.WithCancel(ctx)
	defer breakOff()
	done := make(chan struct{})
	go func() {
		defer close(done)
		began := time.Now()
		if err := d.once(running); running.Err() != nil {
			return
		} else if err != nil {
			fmt.Fprintf(d.cmd.ErrOrStderr(), "skewrig: %s\n", render.VisibleWhole(err.Error()))
		}
		fmt.Fprintf(news(d.cmd), "\n%.1f s. Waiting for a change; Ctrl-C ends.\n", time.Since(began).Seconds())
	}()
	select {
	case name := <-changes:
		fmt.Fprintf(news(d.cmd), "\n%s changed\n", render.Printable(name))
		breakOff()
		<-done
	case <-ctx.Done():
		<-done
	}
}

// once runs the cells once, and prints what they come to.
func (d *dev) once(ctx context.Context) error {
	builder, here, err := d.open(d.cmd)
	if err != nil {
		return err
	}
	cells, err := planning(ctx, func() ([]plan.Cell, error) { return here.Select(d.args) })
	outside := app.CheckOutside(cells, false, d.host)
	if err := app.AddProblems(ctx, err, cells, outside); err != nil {
		return err
	}
	if here, err = here.Excusing(d.known); err != nil {
		return err
	}
	if err := errors.Join(outside, d.CheckUsed(builder, cells)); err != nil {
		return err
	}
	warnUnconfined(d.cmd, d.args, d.host)
	if d.claimed == nil {
		if d.claimed, err = d.report.place(d.cmd).ClaimFor(cells); err != nil {
			return err
		}
	}
	built, err := d.build(ctx, d.cmd, builder, app.Targets(cells), cells)
	if err != nil {
		return err
	}
	options := app.Options{
		Dir: d.report.dir, Claimed: d.claimed, Binary: builder.Binary, Catalog: here,
		Reproduce: app.Reproduce(os.Args, d.args, version(), built), Parallel: d.parallel, Warm: d.warm, AllowHost: d.host,
	}
	if err := app.WithReleases(ctx, builder, &options.Reproduce); err != nil {
		return err
	}
	p := newProgress(news(d.cmd))
	options.Progress = tellCells(d.cmd, p, app.NewForecast(cells, options))
	report, err := app.Run(ctx, cells, options)
	p.close()
	if err != nil || ctx.Err() != nil {
		return err
	}
	return app.Failed(printReport(ctx, d.cmd.OutOrStdout(), d.output, report, d.report.dir))
}
