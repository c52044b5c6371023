package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/engine"
	"github.com/skewrig/skewrig/rehearse/live"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/rehearse/show"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

// Rehearsal is an upgrade, and the way back, of a control plane that has the objects of an input.
type Rehearsal struct {
	From, To release.Version
	// Nodes is the release of the nodes before the upgrade, and after the way back. If unset, it is From.
	Nodes release.Version
	// Gates are set on all components of the releases that have them. If unset, all have their defaults.
	Gates release.Gates
	Input manifest.Input
	// Operators act on the objects. If unset, there are none.
	Operators []rehearse.Operator
	// Dir is the directory for what the rehearsal leaves, which is made. If it has an earlier rehearsal, that is replaced.
	Dir string
	// Known are findings that were accepted. If unset, none were.
	Known rehearse.Known
	// Version is that of skewrig, which a SARIF file names.
	Version string
	// Until is the last stage that is run. If unset, all are.
	Until rehearse.StageName
	// Report is called when a stage begins. If unset, it is not.
	Report func(rehearse.Stage)
	// Building is called with what happens to an operator that is compiled. If unset, it is not.
	Building func(name string, p build.Progress)
}

// Targets are the components that it takes.
func (r Rehearsal) Targets() []build.Target {
	wanted := build.AllOf(r.From)
	for i := range wanted {
		if wanted[i].Component == build.Kubelet && r.Nodes != "" {
			wanted[i].Version = r.Nodes
		}
	}
	return onceEach(slices.Concat(wanted, build.AllOf(r.To)))
}

// Run runs it, and writes what it came to.
func (r Rehearsal) Run(ctx context.Context, builder *build.Builder) (rehearse.Report, error) {
	gates, err := r.gates(ctx, builder)
	operators, wrong := r.operators(ctx, builder)
	from, unread := apiOf(ctx, builder, r.From, gates[r.From])
	to, unreadTo := apiOf(ctx, builder, r.To, gates[r.To])
	if err = errors.Join(err, wrong, unread, unreadTo); err == nil {
		err = rehearsedDir.clear(r.Dir)
	}
	if err != nil {
		return rehearse.Report{}, err
	}
	subject, err := createRecord(r.Dir, path.Join(rehearsedSides, "upgraded"), 0o600)
	if err != nil {
		return rehearse.Report{}, Failed(err)
	}
	twin, err := createRecord(r.Dir, path.Join(rehearsedSides, "stays"), 0o600)
	if err != nil {
		return rehearse.Report{}, Failed(errors.Join(err, subject.close()))
	}
	input := r.Input
	input.Objects = manifest.Ordered(input.Objects)
	seen, storing, err := engine.Config{
		From: r.From, To: r.To, Nodes: r.Nodes, Gates: gates, Objects: input.Objects, Operators: operators, Cluster: rehearsalRig, Binary: builder.Binary,
		Subject: engine.Output{History: subject.history, LogDir: subject.logs}, Twin: engine.Output{History: twin.history, LogDir: twin.logs},
		Until: r.Until, Report: r.Report,
	}.Run(ctx)
	err = errors.Join(err, subject.close(), twin.close())
	if ctx.Err() != nil {
		return rehearse.Report{}, context.Cause(ctx)
	}
	report := rehearse.Of(seen, input, storing).Explained(from, to, input.Objects)
	report.Gates = r.Gates
	for _, o := range r.Operators {
		report.Operators = append(report.Operators, rehearse.RanOperator{Name: o.Name, Program: strings.Join(append([]string{o.Path}, o.Args...), " ")})
	}
	if err != nil {
		report.Failed = err.Error()
	}
	report = report.Without(r.Known)
	return report, Failed(r.write(report))
}

// gates are those of each release that are set.
func (r Rehearsal) gates(ctx context.Context, builder *build.Builder) (map[release.Version]release.Gates, error) {
	all, known := make(map[release.Version]release.Gates), make(map[string]bool)
	for _, v := range slices.Compact([]release.Version{cmp.Or(r.Nodes, r.From), r.From, r.To}) {
		if len(r.Gates) == 0 {
			break
		}
		table, err := tableOf(ctx, builder, v)
		if err != nil {
			return nil, err
		}
		all[v] = make(release.Gates)
		for _, g := range table {
			if value, set := r.Gates[g.Name]; set {
				all[v][g.Name], known[g.Name] = value, true
			}
		}
	}
	var unknown []error
	for _, name := range r.Gates.Names() {
		if !known[name] {
			unknown = append(unknown, fmt.Errorf("neither %s nor %s has a gate called %q (--gates)", r.From, r.To, name))
		}
	}
	return all, errors.Join(unknown...)
}

// operators are the operators with the rights of their workloads, and absolute paths. Those of modules are compiled, if nothing
// is wrong with any.
func (r Rehearsal) operators(ctx context.Context, builder *build.Builder) (all []rehearse.Operator, _ error) {
	var objects []map[string]any
	for _, o := range r.Input.Objects {
		objects = append(objects, o.Object)
	}
	var wrong []error
	for _, o := range r.Operators {
		o, err := o.For(objects)
		if _, isModule := build.ParseMain(o.Path); err == nil && !isModule {
			o.Path, err = executable(o.Path)
		}
		if err != nil {
			err = fmt.Errorf("operator %s: %w", o.Name, err)
		}
		all, wrong = append(all, o), append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	for i, o := range all {
		m, isModule := build.ParseMain(o.Path)
		if !isModule {
			continue
		}
		var err error
		all[i].InCluster = true
		all[i].Path, err = builder.Main(ctx, m, func(p build.Progress) {
			if r.Building != nil {
				r.Building(o.Name, p)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("operator %s: %w", o.Name, err)
		}
	}
	return all, nil
}

// executable is the absolute path of a program.
func executable(name string) (string, error) {
	found, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(found)
}

// ReadAccepted reads a file of findings that were accepted.
func ReadAccepted(file string) (rehearse.Known, error) {
	text, err := files.Read(file, files.MaxText)
	if err != nil {
		return rehearse.Known{}, err
	}
	return rehearse.ReadKnown(file, text)
}

// rehearsalRig is the rig of a topology, whose containers do what their pods expect.
func rehearsalRig(t record.Topology, recorder record.Recorder, pod engine.PodReader) (cluster.Config, error) {
	library, err := images.ByPod(pod)
	return rig.ClusterConfig(t, library, recorder), err
}

// rehearsedSides is where a rehearsal's directory has the records and logs of its sides.
const rehearsedSides = "sides"

// rehearsedDir is the directory of a rehearsal.
var rehearsedDir = ownDir{
	of: "a rehearsal", kept: []string{clusterFile},
	files: append([]string{rehearsedSides, draftsDir}, reports.Each(show.Files, func(f show.File) string { return f.Name })...),
}

// clusterFile has the objects of a cluster, in the directory of the rehearsal for which they were read. They can be rehearsed again.
const clusterFile = "cluster.yaml"

// ReadCluster lists the objects of a cluster into the directory of a rehearsal, and reads them. Secrets and ConfigMaps are among
// them if they are asked for with their data.
func ReadCluster(ctx context.Context, of existing.Config, dir string, withData bool) (manifest.Input, error) {
	config, _, err := of.Load()
	if err != nil {
		return manifest.Input{}, err
	}
	reader, err := live.New(config)
	if err == nil {
		err = rehearsedDir.only(dir)
	}
	if err != nil {
		return manifest.Input{}, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return manifest.Input{}, Failed(err)
	}
	reader.WithData = withData
	var unread []manifest.Problem
	file := filepath.Join(dir, clusterFile)
	err = files.Write(file, 0o600, func(w io.Writer) (err error) { unread, err = reader.Write(ctx, w); return err })
	if err != nil {
		return manifest.Input{}, fmt.Errorf("reading the cluster: %w", err)
	}
	input, err := manifest.Load([]string{file}, nil)
	for _, p := range unread {
		p.File = "cluster " + cmp.Or(of.Context, config.Host)
		input.Problems = append(input.Problems, p)
	}
	return input, err
}

// write writes the report in each format.
func (r Rehearsal) write(report rehearse.Report) error {
	errs := []error{r.writeDrafts(report)}
	for _, f := range show.Files {
		errs = append(errs, files.Write(filepath.Join(r.Dir, f.Name), 0o644, func(w io.Writer) error { return f.Write(w, report, r.Version) }))
	}
	return errors.Join(errs...)
}
