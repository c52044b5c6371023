package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/sweep/engine"
	"github.com/skewrig/skewrig/sweep/gated"
	"github.com/skewrig/skewrig/sweep/trial"
)

type sweepFlags struct {
	binaries
	output
	dir, to, known   string
	shard            string
	gates, kinds, at []string
	dimensions       []string
	budget           time.Duration
	seed             uint64
	resume           bool
	parallel         int
	cluster          kubeconfig
	config           providerConfig
	inJobs           jobsFlags
}

var _ = register(lookFurther, newSweep)

func newSweep() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep [RELEASE]",
		Short: "Turn off a release's gates, or vary objects, and look for bugs",
		Long: `Turn off all gates of a release that guard fields, while objects use these fields, and look
for what should not be. No scenario is needed: the fields are read from the release's types, and
an object with each field is made in each kind, as the API server says what is missing. If
unset, the release is the newest one.

The gates are turned off at the API server, at the controller manager, at a kubelet, at one of
two API servers, and at all of them, each time on a control plane of its own. With the gates on,
the objects are made; the components are restarted with the gates off; each object is touched:
labeled, applied, written back by clients, scaled, its pod template changed, deleted; and the gates
are turned on again. With --to, the components change to another release and back instead. An
object that uses no gated field is treated likewise: what it shows too is no finding.

With --dimensions, the release stays as it is, and ordinary objects are swept: what owners do to
workloads, beside quotas, foreign objects, values at bounds, containers that fail, devices, refused
requests and more. Each story is some objects in a namespace, and what is done to them. Once all is
at rest, the cluster is judged by laws. What breaks one runs again alone, and without the act after
which it was seen. --budget is then the time after which no further batch of stories begins.

With --budget, random plans follow: objects with several fields, touched several times, while some
of the gates are off and a component is killed. The same seed makes the same plans.

What is found is made smaller, and looked for again: in a scenario of its own, in which only the
gates of the field are turned off, three times, and three times with nothing changed. It counts
if the former are all red, and the latter are all green. The report directory gets the findings,
a page, a JUnit file, these scenarios, which skewrig run takes, drafts of issues, and all records.

Exit codes: 0 no finding, 1 a finding, 2 not judged, 3 nothing was started.`,
		Example: `  skewrig sweep
  skewrig sweep newest --to previous --report-dir rollback
  skewrig sweep --gates GRPCContainerProbeTLS --kinds Deployment --at kube-apiserver
  skewrig sweep --dimensions owners,company,faults --report-dir stories
  skewrig sweep --budget 2h --seed 7
  skewrig sweep --baseline sweep.json --report-dir tonight`,
		Args: cobra.MaximumNArgs(1),
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	registerParallel(cmd, &f.parallel)
	f.cluster.register(cmd, "--jobs")
	f.config.register(cmd)
	f.inJobs.register(cmd, &f.cluster, "the sweep", "gates", "kinds", "at", "to", "budget", "seed", "parallel")
	cmd.Flags().StringVar(&f.dir, "report-dir", "sweep", "directory for what the sweep leaves; replaces that of an earlier sweep")
	cmd.Flags().StringSliceVar(&f.gates, "gates", nil, "sweep these gates only, also such as guard no field (the default: all that can be set and guard fields)")
	cmd.Flags().StringSliceVar(&f.dimensions, "dimensions", []string{gatesOff}, "what varies: "+gatesOff+", or "+strings.Join(dimensions(), ", ")+", or all of these")
	cmd.Flags().StringSliceVar(&f.kinds, "kinds", nil, "make objects of these kinds only (the default: all that have a field)")
	cmd.Flags().StringSliceVar(&f.at, "at", nil, "change these only: "+strings.Join(trial.Places(), ", ")+" (the default: one after the other)")
	cmd.Flags().StringVar(&f.to, "to", "", "change to this release and back, with its default gates, instead of turning gates off")
	cmd.Flags().DurationVar(&f.budget, "budget", 0, "go on with random plans until this long after the start (the default: no random plans)")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "what random plans are made from")
	cmd.Flags().StringVar(&f.shard, "shard", "", "sweep one part of the fields, such as 2/4; skewrig report merge joins them")
	cmd.Flags().StringVar(&f.known, "baseline", "", "the sweep.json of an earlier sweep: only what is not in it is a finding")
	cmd.Flags().BoolVar(&f.resume, "resume", false, "go on with the sweep in the report directory, which was interrupted or had a shorter budget")
	return cmd
}

func (f *sweepFlags) run(cmd *cobra.Command, args []string) error {
	shard, err := parseShard(f.shard)
	if err := errors.Join(err, checkParallel(f.parallel), f.config.apply(cmd, ofJobs...)); err != nil {
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
	if !slices.Equal(f.dimensions, []string{gatesOff}) {
		return f.stories(cmd, builder, word, shard)
	}
	r, api, err := app.Gates(cmd.Context(), builder, word)
	if err != nil {
		return err
	}
	if err := f.check(r); err != nil {
		return err
	}
	sweep := app.Sweep{
		Config: engine.Config{Release: r, API: api, Gates: f.gates, Kinds: f.kinds},
		At:     f.at, Budget: f.budget, Seed: f.seed, Shard: shard, Dir: f.dir, Resume: f.resume, Parallel: f.parallel,
	}
	if err := f.others(cmd, builder, &sweep); err != nil {
		return err
	}
	if f.inJobs.wanted(cmd) {
		return f.jobs(cmd, string(r.Version), sweep.Known)
	}
	p := newProgress(news(cmd))
	defer p.close()
	builder.Progress = tellBuild(cmd, p)
	began := time.Now()
	sweep.Tell = func(what string) { fmt.Fprintf(news(cmd), "%4.0fs  %s\n", time.Since(began).Seconds(), what) }
	swept, err := sweep.Run(cmd.Context(), builder)
	p.close()
	if err != nil {
		return err
	}
	return finishSweep(cmd, f.output, swept, f.dir)
}

// finishSweep prints what a sweep came to, whose directory is dir. A finding is the exit code 1.
func finishSweep(cmd *cobra.Command, out output, swept trial.Result, dir string) error {
	if err := printResult(cmd, out, swept, func(w io.Writer, s trial.Result) { printSwept(w, s, dir) }); err != nil {
		return err
	}
	if len(swept.Findings) > 0 {
		return exitCode(reports.ExitNonconforming)
	}
	return nil
}

// others adds what the flags name beside the release: another release, and an earlier sweep.
func (f *sweepFlags) others(cmd *cobra.Command, builder *build.Builder, sweep *app.Sweep) error {
	if f.known != "" {
		known, err := app.ReadKnown(f.known)
		if err != nil {
			return err
		}
		sweep.Known = known
	}
	if f.to == "" {
		return nil
	}
	to, api, err := app.Gates(cmd.Context(), builder, f.to)
	if err != nil {
		return err
	}
	from := sweep.Release.Version
	sweep.To, sweep.ToAPI = to.Version, api
	if len(trial.Transitions(f.at, from, to.Version)) == 0 {
		return fmt.Errorf("nothing can change from %s to %s (--to, --at): a control plane moves by one minor version, and a kubelet may be three minor versions older than the API server, but not newer", from, to.Version)
	}
	return nil
}

// check is an error if a gate or a kind that is to be swept guards nothing, or has nothing guarded, or if a
// place is none.
func (f *sweepFlags) check(r gated.Release) error {
	var gates, kinds []string
	for _, g := range r.Gates {
		if !g.Locked {
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
		allKnown(f.gates, gates, string(r.Version)+" has no gate that can be set, called"),
		allKnown(f.kinds, slices.Compact(kinds), string(r.Version)+" has no kind with a gated field, called"),
		allKnown(f.at, trial.Places(), "a sweep changes nothing that is called"),
	)
}

func printSwept(w io.Writer, s trial.Result, dir string) {
	reached := 0
	for _, r := range s.Reached {
		if r.Object != nil {
			reached++
		}
	}
	fmt.Fprintf(w, "%s: %d objects in %s; %d of %d gated fields of kinds could be used\n", s.Version, s.Items(), reports.Counted(len(s.Plans), "plan"), reached, len(s.Reached))
	for _, p := range s.Plans {
		if p.Restless {
			fmt.Fprintf(w, "Plan %d did not come to rest: it may show more\n", p.Number)
		}
		for _, lost := range p.Lost {
			fmt.Fprintf(w, "Plan %d: %s\n", p.Number, lost)
		}
	}
	for n, f := range s.Findings {
		fmt.Fprintf(w, "\nFinding %d: %s%s\n", n+1, f.Signature(), knownAs(f))
		printFound(w, f)
	}
	for _, f := range s.NotConfirmed {
		fmt.Fprintf(w, "\nNot confirmed with the gates alone: %s\n", f.Signature())
		printFound(w, f)
	}
	for _, f := range s.Known {
		fmt.Fprintf(w, "\nKnown: %s\n", f.Signature())
	}
	var not []trial.Coverage
	for _, r := range s.Reached {
		if r.Object == nil {
			not = append(not, r)
		}
	}
	if len(not) > 0 {
		fmt.Fprintln(w, "\nNot used, and the API server's last word:")
		table(w, "FIELD\tKIND\tWHY", not, func(r trial.Coverage) string { return fmt.Sprintf("%s\t%s\t%s", r.Field, r.Kind, r.Why) })
	}
	fmt.Fprint(w, "\n", s.Outcome())
	switch {
	case len(s.Findings) > 0:
		fmt.Fprint(w, ". Scenarios: ", filepath.Join(dir, "scenarios"))
	case len(s.NotConfirmed) > 0:
		fmt.Fprintf(w, ": %s in the sweep alone. On a machine without other work, a sweep sees more", reports.Counted(len(s.NotConfirmed), "finding"))
	}
	fmt.Fprintln(w)
}

// knownAs names the issues that a finding shows.
func knownAs(f trial.Finding) string {
	issues := f.Issues()
	if len(issues) == 0 {
		return ""
	}
	return " (known: " + strings.Join(issues, "; ") + ")"
}

func printFound(w io.Writer, f trial.Finding) {
	table(w, "KIND\tFIELD\tGATES\tALONE\tCONTROL\tWHILE\tIN THE SWEEP", f.Items, func(i trial.Found) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", i.Kind, cmp.Or(strings.Join(i.FieldNames(), ", "), "-"), strings.Join(i.Takes(), ", "), i.Alone, i.Control, strings.Join(i.Transitions(), "; "), i.Detail)
	})
}
