package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/upstream"
)

type upstreamFlags struct {
	binaries
	output
	reportDir
	focus, skip, from string
	kubelets          []string
	runtime           choice
	parallel          int
}

var _ = register(lookFurther, newUpstream)

func newUpstream() *cobra.Command {
	var f upstreamFlags
	cmd := &cobra.Command{
		Use:   "upstream [RELEASE]",
		Short: "Run Kubernetes' own specs of the node on a rig",
		Long: `Compile the e2e specs of a Kubernetes release that all nodes have in common
(test/e2e/common/node), unmodified, start a rig with the feature gates that they ask for,
and run them in parallel. If unset, the release is the newest one.

Each spec is a cell of the report. One that needs what a rig fakes, such as cgroups, is
expected to fail, or not run, and the report says why. One that passes all the same is red:
the list of these specs is out of date.

With --kubelet, the node is of an older release than the control plane and the specs: then they
are tests of version skew. Given several times, the specs run with each kubelet, on a rig of its
own, and the report has a cell for each.`,
		Example: `  skewrig upstream --focus Probing
  skewrig upstream newest --kubelet previous --focus Probing
  skewrig upstream --kubelet newest --kubelet previous --focus Probing
  skewrig upstream --focus 'Container Runtime' --skip 'image'
  sudo skewrig upstream --runtime containerd --focus Probing
  skewrig upstream --specs ../kubernetes --focus Probing     # the specs of your own checkout`,
		Args: cobra.MaximumNArgs(1),
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	f.reportDir.register(cmd, "report", "directory for the report; replaces an earlier report of the same specs")
	cmd.Flags().StringVar(&f.focus, "focus", upstream.DefaultFocus, "run the specs whose names match this regular expression")
	cmd.Flags().StringVar(&f.skip, "skip", "", "leave out those whose names match this regular expression (default: none)")
	cmd.Flags().StringVar(&f.from, "specs", "", "compile the specs from this checkout of Kubernetes, and the rig from the release: DIR, or DIR@REF for a commit")
	cmd.Flags().StringArrayVar(&f.kubelets, "kubelet", nil, "the release of the node (default: that of the specs; repeatable: the specs run with each)")
	f.runtime.register(cmd, "runtime", "", record.Simulated, "the container runtime of the node: simulated, or containerd, which has real containers and takes root", record.Runtimes...)
	cmd.Flags().IntVar(&f.parallel, "parallel", app.ParallelSpecs(), "how many specs run in parallel; most of the time, they wait")
	cmd.Flags().Lookup("parallel").DefValue = "five for each core" // the same help on all machines
	return cmd
}

func (f *upstreamFlags) run(cmd *cobra.Command, args []string) error {
	releases, err := release.Choose(f.Newest, f.Previous)
	if err != nil {
		return err
	}
	newest, _ := releases.Pair()
	run := app.Upstream{Release: newest, Runtime: f.runtime.value, Parallel: f.parallel, Place: f.place(cmd)}
	var problems []error
	if len(args) > 0 {
		run.Release, err = releases.Resolve(args[0])
		problems = append(problems, err)
	}
	for _, name := range f.kubelets {
		kubelet, err := releases.Resolve(name)
		problems = append(problems, ofFlag("kubelet", err))
		if !slices.Contains(run.Kubelets, kubelet) {
			run.Kubelets = append(run.Kubelets, kubelet)
		}
	}
	if len(f.kubelets) == 0 {
		run.Kubelets = []release.Version{run.Release}
	}
	var focusErr, skipErr error
	run.Choice.Focus, focusErr = pattern(f.focus)
	run.Choice.Skip, skipErr = pattern(f.skip)
	problems = append(problems, ofFlag("focus", focusErr), ofFlag("skip", skipErr), checkParallel(f.parallel))
	if err := errors.Join(problems...); err != nil {
		return err
	}
	run.Args = f.again(cmd, run)
	if f.from != "" {
		source := fmt.Sprintf("%s@%s=%s", build.NodeE2E, run.Release, f.from)
		if _, err := build.ParseSource(source, releases); err != nil {
			return ofFlag("specs", err)
		}
		f.Sources = append(f.Sources, source)
	}
	builder, _, err := f.open(cmd)
	if err != nil {
		return err
	}
	run.Sources = builder.Releases().Sources
	if err := errors.Join(run.Check(), f.CheckNeeded(builder, run.Targets())); err != nil {
		return err
	}
	report, err := f.start(cmd, run, builder)
	f.listed = true
	if len(report.Cells) == 0 {
		return err
	}
	return errors.Join(err, finish(cmd, f.output, report, f.dir)) // what was seen is judged, whatever else failed
}

// again are the arguments that choose the same specs and control plane.
func (f *upstreamFlags) again(cmd *cobra.Command, run app.Upstream) []string {
	args := []string{cmd.Name(), string(run.Release)}
	if f.from != "" {
		args = append(args, "--specs", f.from)
	}
	if f.Toolchain != "" {
		args = append(args, "--toolchain", string(f.Toolchain))
	}
	for _, of := range []struct {
		flag   string
		values []string
	}{{"--binary", f.Given}, {"--overlay", f.Overlays}, {"--source", f.Sources}, {"--stand-in", f.StandIns}} {
		for _, value := range of.values {
			args = append(args, of.flag, value)
		}
	}
	return args
}

// start runs the specs, and tells of each.
func (f *upstreamFlags) start(cmd *cobra.Command, run app.Upstream, builder *build.Builder) (reports.Report, error) {
	p := newProgress(news(cmd))
	defer p.close()
	builder.Progress = tellBuild(cmd, p)
	run.Note = func(what string) { p.line("%s", what) }
	run.Tell = func(c reports.Cell, done, of int) {
		p.line("%3d/%d  %-14s %6.1fs  %s", done, of, c.Outcome.Word(), c.DurationSeconds, c.ID)
		if !c.Outcome.Expected() && len(c.Checks) > 0 {
			p.line("         %s", c.Checks[0].Observed)
		}
	}
	run.Reproduce = app.Reproduce(os.Args, nil, version(), nil)
	if err := app.WithReleases(cmd.Context(), builder, &run.Reproduce); err != nil {
		return reports.Report{}, err
	}
	return run.Run(cmd.Context(), builder)
}

// pattern is a regular expression, and nil if the text is empty.
func pattern(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	return regexp.Compile(text)
}

// ofFlag is an error about a flag.
func ofFlag(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--%s: %w", name, err)
}
