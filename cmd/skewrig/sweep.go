package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/sweep/engine"
	"github.com/skewrig/skewrig/sweep/gated"
	"github.com/skewrig/skewrig/sweep/trial"
)

type sweepFlags struct {
	binaries
	output
	dir          string
	gates, kinds []string
	parallel     int
}

func newSweep() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep [RELEASE]",
		Short: "Turn off the gates of a release while objects use what they guard",
		Long: `Turn off all gates of a release that guard fields, while objects use these fields, and look
for what should not be. No scenario is needed: the fields are read from the release's types, and
an object with each field is made in each kind, as the API server says what is missing. If
unset, the release is the newest one.

An API server and a controller manager run. With the gates on, the objects are made; the API
server is restarted with the gates off; each object is touched: labeled, applied, scaled, its pod
template changed, deleted; and the gates are turned on again. An object that uses no gated
field is treated likewise: what it shows too is no finding.

What is found is looked for again: in a scenario of its own, in which only the gates of the field
are turned off, three times, and three times with them left on. It counts if the former are all
red, and the latter are all green. The report directory gets the findings, the record of the
sweep, these scenarios, which skewrig run takes, and their report.`,
		Example: `  skewrig sweep
  skewrig sweep previous --report-dir sweep-previous
  skewrig sweep --gates GRPCContainerProbeTLS,H2CContainerProbe --kinds Deployment,DaemonSet`,
		Args: cobra.MaximumNArgs(1),
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	registerParallel(cmd, &f.parallel)
	cmd.Flags().StringVar(&f.dir, "report-dir", "sweep", "directory for what the sweep leaves; replaces that of an earlier sweep")
	cmd.Flags().StringSliceVar(&f.gates, "gates", nil, "sweep these gates only (the default: all that can be set and guard fields)")
	cmd.Flags().StringSliceVar(&f.kinds, "kinds", nil, "make objects of these kinds only (the default: all that have a field)")
	return cmd
}

func (f *sweepFlags) run(cmd *cobra.Command, args []string) error {
	if err := checkParallel(f.parallel); err != nil {
		return err
	}
	builder, _, err := f.open(cmd)
	if err != nil {
		return err
	}
	word := "newest"
	if len(args) > 0 {
		word = args[0]
	}
	r, api, err := app.Gates(cmd.Context(), builder, word)
	if err != nil {
		return err
	}
	if err := f.known(r); err != nil {
		return err
	}
	p := newProgress(news(cmd))
	defer p.close()
	builder.Progress = tellBuild(cmd, p)
	began := time.Now()
	config := engine.Config{Release: r, API: api, Gates: f.gates, Kinds: f.kinds}
	config.Tell = func(what string) { fmt.Fprintf(news(cmd), "%4.0fs  %s\n", time.Since(began).Seconds(), what) }
	swept, err := app.Sweep{Config: config, Dir: f.dir, Parallel: f.parallel}.Run(cmd.Context(), builder)
	p.close()
	if err != nil {
		return err
	}
	if err := printResult(cmd, f.output, swept, func(w io.Writer, s app.Swept) { printSwept(w, s, f.dir) }); err != nil {
		return err
	}
	if len(swept.Findings) > 0 {
		return exitCode(reports.ExitNonconforming)
	}
	return nil
}

// known is an error if a gate or a kind that is to be swept guards nothing, or has nothing guarded.
func (f *sweepFlags) known(r gated.Release) error {
	var gates, kinds []string
	for _, g := range r.Gates {
		if len(g.Fields) > 0 && !g.Locked {
			gates = append(gates, g.Name)
		}
	}
	for _, field := range r.Fields() {
		for _, p := range field.Places {
			kinds = append(kinds, p.Kind)
		}
	}
	slices.Sort(kinds)
	return errors.Join(
		allKnown(f.gates, gates, string(r.Version)+" has no gate that can be set and guards fields, called"),
		allKnown(f.kinds, slices.Compact(kinds), string(r.Version)+" has no kind with a gated field, called"),
	)
}

func printSwept(w io.Writer, s app.Swept, dir string) {
	reached := 0
	for _, r := range s.Reached {
		if r.Object != nil {
			reached++
		}
	}
	fmt.Fprintf(w, "%s: %d objects; %d of %d gated fields of kinds could be used\n", s.Version, s.Items, reached, len(s.Reached))
	for n, f := range s.Findings {
		fmt.Fprintf(w, "\nFinding %d: %s\n", n+1, f.Signature())
		printFound(w, f)
	}
	for _, f := range s.NotConfirmed {
		fmt.Fprintf(w, "\nNot confirmed with the gates alone: %s\n", f.Signature())
		printFound(w, f)
	}
	var not []engine.Reached
	for _, r := range s.Reached {
		if r.Object == nil {
			not = append(not, r)
		}
	}
	if len(not) > 0 {
		fmt.Fprintln(w, "\nNot used, and the API server's last word:")
		table(w, "FIELD\tKIND\tWHY", not, func(r engine.Reached) string { return fmt.Sprintf("%s\t%s\t%s", r.Field, r.Kind, r.Why) })
	}
	fmt.Fprintln(w)
	if len(s.Findings) == 0 {
		fmt.Fprintln(w, "Nothing was found")
		return
	}
	fmt.Fprintf(w, "%s. Scenarios: %s\n", reports.Counted(len(s.Findings), "finding"), filepath.Join(dir, "scenarios"))
}

func printFound(w io.Writer, f trial.Finding) {
	table(w, "KIND\tFIELD\tGATES\tALONE\tCONTROL\tIN THE SWEEP", f.Items, func(i trial.Found) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", i.Kind, i.Field, strings.Join(i.Gates, ", "), i.Alone, i.Control, i.Detail)
	})
}
