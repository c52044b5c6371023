package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/rehearse/show"
	"github.com/skewrig/skewrig/reports"
)

type rehearseFlags struct {
	binaries
	output
	dir, from, to, nodes, known, until string
	cluster                            kubeconfig
	withData                           bool
	gates                              map[string]string
	operators                          []string
}

var _ = register(startHere, newRehearse)

func newRehearse() *cobra.Command {
	var f rehearseFlags
	cmd := &cobra.Command{
		Use:   "rehearse MANIFEST... | --context NAME",
		Short: "Store your objects, upgrade, go back, and say what that does to them",
		Long: `Store your objects on a real control plane, upgrade it step by step, go back, and upgrade it
again. A second control plane has the same objects and stays: what differs is a finding. An
argument is a file, a directory, an archive of Velero, or - for standard input.
With --context, the objects of a cluster are listed, and nothing is written there: Secrets and
ConfigMaps are not read. What was read is cluster.yaml in the report directory.

The containers are not yours: each listens on the ports and answers the probes of its pod. Volumes
and load balancers are mocks. Aggregated APIs are left out, and so are webhooks, unless you give the
operator that serves them. So a rehearsal sees what Kubernetes does with your objects, and not what
your programs, network or storage do.

Exit codes: 0 nothing found, 1 a finding, 2 not judged, or an object was left out, 3 nothing was
started.`,
		Example: `  helm template shop ./charts/shop | skewrig rehearse -
  skewrig rehearse deploy/
  skewrig rehearse deploy/ --from previous --to newest
  kubectl get deployments,services,configmaps -A -o yaml | skewrig rehearse -
  skewrig rehearse deploy/ --operator 'shop=./bin/shop-operator --webhook-port=$(WEBHOOK_PORT)'
  skewrig rehearse --context production`,
		RunE: f.run,
	}
	f.binaries.register(cmd)
	f.output.register(cmd)
	cmd.Flags().StringVar(&f.from, "from", "previous", "the release at which the rehearsal begins, and to which it goes back")
	cmd.Flags().StringVar(&f.to, "to", "newest", "the release to upgrade to")
	cmd.Flags().StringVar(&f.nodes, "nodes", "", "the release of the nodes before the upgrade, and after the way back (default: that of --from)")
	cmd.Flags().StringVar(&f.dir, "report-dir", "rehearsal", "directory for what the rehearsal leaves; replaces that of an earlier one")
	cmd.Flags().StringVar(&f.known, "known", "", "a file of findings that were accepted: each with what, object and reason")
	cmd.Flags().StringToStringVar(&f.gates, "gates", nil, "feature gates to set, NAME=true or NAME=false, in the releases that have them")
	cmd.Flags().StringArrayVar(&f.operators, "operator", nil, "run a program in the place of a workload's pods, with the rights of its ServiceAccount and a kubeconfig in KUBECONFIG: "+
		"NAME='PROGRAM [ARGUMENT...]' (repeatable). PROGRAM is a path, or PACKAGE@VERSION of a Go module, which is compiled. It runs twice at the same time, so it must not listen on a fixed port: $(WEBHOOK_PORT) and $(WEBHOOK_CERTS) among its arguments are a port and a directory for its webhooks")
	cmd.Flags().StringVar(&f.cluster.context, "context", "", "list the objects of the cluster of this context")
	cmd.Flags().StringVar(&f.cluster.file, "kubeconfig", "", "list the objects of the cluster of this kubeconfig (default: as kubectl)")
	cmd.Flags().BoolVar(&f.withData, "with-data", false, "also read Secrets and ConfigMaps of the cluster, with their data")
	cmd.Flags().StringVar(&f.until, "until", "", "stop after this stage: "+strings.Join(stageNames(), ", ")+" (the default: the last one)")
	return cmd
}

// parseGates are the gates of a flag.
func parseGates(given map[string]string) (release.Gates, error) {
	gates := make(release.Gates)
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, err := strconv.ParseBool(given[name])
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s=%s is neither true nor false (--gates)", name, given[name]))
		}
		gates[name] = value
	}
	return gates, errors.Join(wrong...)
}

func parseOperators(given []string) (all []rehearse.Operator, _ error) {
	var wrong []error
	for _, text := range given {
		o, err := rehearse.ParseOperator(text)
		all, wrong = append(all, o), append(wrong, err)
	}
	return all, errors.Join(wrong...)
}

// stageNames are the names of all stages.
func stageNames() (names []string) {
	for _, s := range rehearse.Stages {
		names = append(names, string(s.Name))
	}
	return names
}

func (f *rehearseFlags) run(cmd *cobra.Command, args []string) error {
	builder, err := f.Builder(cmd.Context())
	if err != nil {
		return err
	}
	rehearsal, err := f.rehearsal(cmd, builder, args)
	if err != nil {
		return err
	}
	if _, err := f.build(cmd.Context(), cmd, builder, rehearsal.Targets(), nil); err != nil {
		return err
	}
	began := time.Now()
	rehearsal.Report = func(s rehearse.Stage) {
		fmt.Fprintf(news(cmd), "%4.0fs  %s: %s\n", time.Since(began).Seconds(), s.Name, s.Does)
	}
	rehearsal.Building = func(name string, p build.Progress) {
		if p.State != build.Compiling && p.State != build.Downloading || p.Done%100 == 0 {
			fmt.Fprintf(news(cmd), "%4.0fs  %s\n", time.Since(began).Seconds(), app.BuildLine("operator "+name, p))
		}
	}
	report, err := rehearsal.Run(cmd.Context(), builder)
	if err != nil {
		return err
	}
	return f.finish(cmd, report)
}

// rehearsal reads what is to be rehearsed, and says what was read.
func (f *rehearseFlags) rehearsal(cmd *cobra.Command, builder *build.Builder, args []string) (app.Rehearsal, error) {
	r, err := f.fromFlags(builder.Releases())
	if err != nil {
		return r, err
	}
	input, err := f.input(cmd, args)
	if err != nil {
		return r, err
	}
	if len(input.Objects) == 0 {
		return r, fmt.Errorf("no Kubernetes object was found in %s, %s left out: %w", reports.Counted(input.Files, "file"), reports.Counted(len(input.Problems), "document"), problems(input))
	}
	fmt.Fprintf(news(cmd), "%s of %s read, %s left out; %s -> %s -> %s\n", reports.Counted(len(input.Objects), "object"), reports.Counted(input.Files, "file"),
		reports.Counted(len(input.Problems), "document"), rehearse.Releases(r.From, r.Nodes), r.To, r.From)
	r.Input = input
	return r, nil
}

// input reads arguments, or a cluster.
func (f *rehearseFlags) input(cmd *cobra.Command, args []string) (manifest.Input, error) {
	ofCluster := f.cluster != kubeconfig{}
	switch {
	case ofCluster && len(args) > 0:
		return manifest.Input{}, errors.New("manifests can't be given with --context or --kubeconfig: rehearse either")
	case f.withData && !ofCluster:
		return manifest.Input{}, errors.New("--with-data is for a cluster: give --context or --kubeconfig, too")
	case ofCluster:
		return app.ReadCluster(cmd.Context(), f.cluster.config(), f.dir, f.withData)
	case len(args) == 0:
		return manifest.Input{}, errors.New("nothing to rehearse: give files, directories, - for standard input, or --context")
	}
	return manifest.Load(args, cmd.InOrStdin())
}

// fromFlags returns a rehearsal without its input. The error has all mistakes in the flags.
func (f *rehearseFlags) fromFlags(releases release.Releases) (r app.Rehearsal, _ error) {
	errs := make([]error, 7)
	r = app.Rehearsal{Until: rehearse.StageName(f.until), Dir: f.dir, Version: version()}
	r.From, errs[0] = releases.Resolve(f.from)
	r.To, errs[1] = releases.Resolve(f.to)
	if f.until != "" {
		errs[2] = allKnown([]string{f.until}, stageNames(), "there is no stage")
	}
	r.Gates, errs[3] = parseGates(f.gates)
	r.Operators, errs[4] = parseOperators(f.operators)
	if f.known != "" {
		r.Known, errs[5] = app.ReadAccepted(f.known)
	}
	if f.nodes != "" {
		r.Nodes, errs[6] = releases.Resolve(f.nodes)
	}
	if err := errors.Join(errs...); err != nil {
		return r, err
	}
	return r, inReach(r)
}

// problems are why documents are left out.
func problems(in manifest.Input) error {
	var all []error
	for _, p := range in.Problems {
		all = append(all, p)
	}
	return errors.Join(all...)
}

// inReach is an error if a control plane can't be upgraded so, or has no such nodes: it moves by one minor version at a time.
func inReach(r app.Rehearsal) error {
	if apart := r.To.Minor() - r.From.Minor(); apart != 0 && apart != 1 {
		return fmt.Errorf("%s can't be upgraded to %s: a control plane moves by one minor version at a time (--from, --to)", r.From, r.To)
	}
	if r.Nodes == "" {
		return nil
	}
	for _, v := range []release.Version{r.From, r.To} { // the nodes are upgraded after the control plane
		if skew := release.SkewOf(release.Effective{Version: v}, r.Nodes); skew != release.SkewSupported {
			return fmt.Errorf("nodes of %s beside a control plane of %s: %s (--nodes)", r.Nodes, v, skew)
		}
	}
	return nil
}

// finish prints what a rehearsal came to. A finding is the exit code 1, and a rehearsal that ended early 2.
func (f *rehearseFlags) finish(cmd *cobra.Command, report rehearse.Report) error {
	var failed error
	err := printResult(cmd, f.output, report, func(w io.Writer, r rehearse.Report) { failed = show.Text(w, r, f.dir) })
	switch {
	case errors.Join(err, failed) != nil:
		return errors.Join(err, failed)
	case report.Failed != "":
		return exitCode(reports.ExitNotJudged)
	case len(report.Findings) > 0:
		return exitCode(reports.ExitNonconforming)
	case !report.IsWhole():
		return exitCode(reports.ExitNotJudged)
	default:
		return nil
	}
}
