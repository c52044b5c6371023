package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/app/changes"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/changed"
)

type releaseFlags struct {
	output
	binaries

	since, baseline, dir string
	only                 []string
}

var _ = register(lookFurther, newRelease)

func newRelease() *cobra.Command {
	var f releaseFlags
	cmd := &cobra.Command{
		Use:   "release RELEASE",
		Short: "Run all that shows what a release changes, into one page",
		Long: `Run everything that says what a release changes, one stage after the other, and write one page
of it after each: the worst first. The stages are commands of skewrig, which the page has:

  build     its components, and the kubelet of the release before
  gates     the gates and fields that differ, defaults that change
  catalog   the default cells, on this pair
  graduate  each enhancement whose gate the release has, for the stage that it has there
  rollback  objects with each gated field, through a rollback to the release before and back
  upgrade   the same, through an upgrade from there
  sweep     the same, with the gates turned off and on again
  upstream  Kubernetes' own specs of probes, on both kubelets

A stage that has ended is not run again: after an interrupt, type the same. Stages can run on
several machines with --only, into directories that are then copied into one.

Exit codes: 0 all as expected, 1 a nonconformance or a finding, 2 a stage was not judged, or has
not run, 3 nothing was started.`,
		Example: `  skewrig release vX.Y.0-beta.0
  skewrig release vX.Y.0-beta.0 --since vX.Y.Z --report-dir beta
  skewrig release vX.Y.0-beta.0 --only catalog --only gates
  skewrig release vX.Y.0 --baseline report              # a report of the release before`,
		Args: cobra.ExactArgs(1),
		RunE: f.run,
	}
	cmd.Flags().StringVar(&f.since, "since", "", "the release before (default: the newest known one of the minor version before)")
	cmd.Flags().StringVar(&f.baseline, "baseline", "", "the report directory of a run of the catalog on the release before: what is otherwise is on the page")
	cmd.Flags().StringVar(&f.dir, "report-dir", "release", "directory for the page, and for what the stages leave")
	cmd.Flags().StringSliceVar(&f.only, "only", nil, "run these stages only (repeatable; default: all)")
	f.output.register(cmd)
	f.registerBuild(cmd)
	return cmd
}

func (f *releaseFlags) run(cmd *cobra.Command, args []string) error {
	pair, err := release.Choose(args[0], f.since)
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "--previous", "--since"))
	}
	newest, previous := pair.Pair()
	pair = release.Releases{Newest: newest, Previous: previous}
	f.Newest, f.Previous = string(newest), string(previous)
	if _, err := f.Builder(cmd.Context()); err != nil { // which asks an unknown release for its gates
		return err
	}
	stages, err := f.stages(pair)
	if err != nil {
		return err
	}
	var names []string
	for _, s := range stages {
		names = append(names, s.name)
	}
	for _, name := range f.only {
		if !slices.Contains(names, name) {
			return fmt.Errorf("--only %s is no stage of this release: it has %s", name, strings.Join(names, ", "))
		}
	}
	work, err := app.OpenReleasing(f.dir, pair, f.baseline)
	if err != nil {
		return err
	}
	for _, s := range stages {
		if err := work.Plan(changed.Stage{Name: s.name, Command: s.command(), Informs: s.informs}); err != nil {
			return err
		}
	}
	for _, s := range stages {
		if cmd.Context().Err() != nil {
			break
		}
		if len(f.only) > 0 && !slices.Contains(f.only, s.name) || work.Ended(s.name) {
			continue
		}
		fmt.Fprintf(news(cmd), "\n== %s: %s\n", s.name, s.command())
		if err := f.stage(cmd, work, s); err != nil {
			return err
		}
	}
	document, err := work.Write()
	if err != nil {
		return err
	}
	err = printResult(cmd, f.output, document, func(w io.Writer, d changed.Document) {
		for _, s := range d.Sections {
			fmt.Fprintf(w, "%4d  %s\n", len(s.Lines), s.Title)
		}
		fmt.Fprintf(w, "Page: %s\n", filepath.Join(f.dir, app.ReleasePage))
	})
	return errors.Join(err, exit(document.Exit()))
}

// stage runs a stage, and writes the page anew.
func (f *releaseFlags) stage(cmd *cobra.Command, work *app.Releasing, s releaseStage) error {
	var said tail
	out := cmd.ErrOrStderr() // what is printed at the end is the document
	var kept bytes.Buffer
	if s.keeps {
		out = &kept
	}
	started := time.Now()
	args := slices.Clone(s.args)
	if s.dir {
		args = append(args, "--report-dir", work.Dir(s.name))
		if app.IsSweep(work.Dir(s.name)) {
			args = append(args, "--resume")
		}
	}
	code := run(cmd.Context(), args, out, io.MultiWriter(cmd.ErrOrStderr(), &said))
	if cmd.Context().Err() != nil {
		return nil //nolint:nilerr // it was interrupted, and runs again
	}
	if s.keeps && kept.Len() > 0 {
		if err := work.Keep(s.name, kept.Bytes()); err != nil {
			return err
		}
	}
	if err := work.End(s.name, code, started, said.last()); err != nil {
		return err
	}
	_, err := work.Write()
	return err
}

// tail keeps the end of what is written.
type tail struct{ bytes.Buffer }

// maxTail is how much of it is kept, in bytes.
const maxTail = 2000

func (t *tail) Write(p []byte) (int, error) {
	n, err := t.Buffer.Write(p)
	if over := t.Len() - maxTail; over > 0 {
		t.Next(over)
	}
	return n, err
}

func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	return lines[len(lines)-1]
}

// releaseStage is a stage as a command.
type releaseStage struct {
	name string
	args []string
	// dir is true if it takes a report directory, and keeps if what it prints is kept.
	dir, keeps bool
	informs    bool // it decides nothing
}

// command is what a user types for it.
func (s releaseStage) command() string {
	return app.CommandLine(append([]string{"skewrig"}, s.args...))
}

func (f *releaseFlags) stages(pair release.Releases) ([]releaseStage, error) {
	newest, previous := pair.Pair()
	how := f.building()
	on := append([]string{"--newest", string(newest), "--previous", string(previous)}, how...)
	of := func(parts ...[]string) []string { return slices.Concat(parts...) }
	claims, err := app.Claims(newest)
	if err != nil {
		return nil, err
	}
	stages := []releaseStage{
		{name: changes.BuildStage, args: of([]string{"build", "components"}, on)},
		{name: changes.GatesStage, args: of([]string{"gates", string(previous) + ".." + string(newest), "-o", "json"}, how), keeps: true},
		{name: changes.CatalogStage, args: of([]string{"run", "--force"}, on), dir: true},
	}
	for _, e := range claims {
		stages = append(stages, releaseStage{name: changes.GraduateStage(e.KEP), keeps: true, informs: true,
			args: []string{"kep", "graduate", strings.ToLower(e.KEP), "--stage", e.Stage, "-o", "json", "--report", filepath.Join(f.dir, changes.CatalogStage)}})
	}
	return append(stages,
		releaseStage{name: changes.RollbackStage, args: of([]string{"sweep", string(newest), "--to", string(previous)}, how), dir: true},
		releaseStage{name: changes.UpgradeStage, args: of([]string{"sweep", string(previous), "--to", string(newest)}, how), dir: true},
		releaseStage{name: changes.SweepStage, args: of([]string{"sweep", string(newest)}, how), dir: true},
		releaseStage{name: changes.UpstreamStage, args: of([]string{"upstream", string(newest), "--kubelet", string(newest), "--kubelet", string(previous), "--focus", "Probing", "--force"}, how), dir: true},
	), nil
}

// building are the flags of a build.
func (f *releaseFlags) building() (args []string) {
	for _, of := range []struct{ flag, value string }{{"--cache-dir", f.CacheDir}, {"--toolchain", string(f.Toolchain)}} {
		if of.value != "" {
			args = append(args, of.flag, of.value)
		}
	}
	for _, s := range f.StandIns {
		args = append(args, "--stand-in", s)
	}
	return args
}
