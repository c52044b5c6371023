package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/upstream"
)

// Upstream is a run of upstream's own specs of the node on a rig.
type Upstream struct {
	// Release is that of the specs and the control plane, and Kubelet that of the node.
	Release, Kubelet release.Version
	// Sources are the checkouts that stand in for releases.
	Sources release.Sources
	// Choice says which specs are run.
	Choice upstream.Choice
	// Parallel is how many specs run at the same time. It is at least 1.
	Parallel int
	// Place is where the report goes.
	Place Place
	// Reproduce is what the report says of how to run the same again. Its components are added.
	Reproduce reports.Reproduce
	// Args are the arguments of skewrig that choose the rig, for who runs one spec again.
	Args []string
	// Tell is called with each spec that has ended, from one goroutine at a time, and with how
	// many have, of how many.
	Tell func(cell reports.Cell, done, of int)
	// Note is called with a sentence about what happens.
	Note func(string)
}

// ParallelSpecs is how many specs run at the same time unless a user says otherwise.
func ParallelSpecs() int { return 5 * runtime.NumCPU() }

// Check is an error if there can't be such a rig.
func (u Upstream) Check() error {
	if u.Kubelet.Compare(u.Release) > 0 {
		return fmt.Errorf("the kubelet, %s, would be newer than its API server, %s, which Kubernetes does not support: choose an older one (--kubelet)", u.Kubelet, u.Release)
	}
	return nil
}

// Targets are the programs that the run needs.
func (u Upstream) Targets() []build.Target {
	cell := plan.Cell{Topology: u.topology(nil)}
	return append(Targets([]plan.Cell{cell}), build.Target{Component: build.NodeE2E, Version: u.Sources.Of(string(build.NodeE2E), u.Release)})
}

// specsNode is the node of the rig.
const specsNode = "node-a"

// topology is a rig with the gates that specs ask for, as far as its releases have them.
func (u Upstream) topology(gates []string) record.Topology {
	rig := u.rig()
	topology := record.Topology{
		Version: u.Release, Gates: settable(gates, rig.ControlPlane), ControllerManager: true, Scheduler: true,
		Nodes: []record.Node{{Name: specsNode, Version: u.Kubelet, Gates: settable(gates, rig.Kubelet)}},
	}
	return Catalog{Sources: u.Sources}.onSources(plan.Cell{Topology: topology}).Topology
}

// settable are the gates that a release has, and that are off unless they are turned on, with
// those that must be on for them. Of a release whose gates are not known they are all: it says
// itself which it does not have.
func settable(gates []string, v release.Version) release.Gates {
	of := release.Effective{Version: v}
	on := make(release.Gates)
	table, known, err := release.Table(of)
	for _, name := range gates {
		at := slices.IndexFunc(table, func(g release.Gate) bool { return g.Name == name })
		if err != nil || !known || at >= 0 && !table[at].Default && !table[at].Locked {
			on[name] = true
		}
	}
	return release.WithDependents(of, on)
}

// lacks is a gate that a spec asks for and the rig's kubelet does not have.
func (u Upstream) lacks(s upstream.Spec) (gate string, is bool) {
	for _, name := range s.Gates {
		if release.CheckGate(release.Effective{Version: u.rig().Kubelet}, name) != nil {
			return name, true
		}
	}
	return "", false
}

// expectation is what is expected of a spec, and nil if it is to pass.
func (u Upstream) expectation(s upstream.Spec, all upstream.Expectations) *upstream.Expectation {
	if gate, is := u.lacks(s); is {
		return &upstream.Expectation{NotRun: true, Reason: fmt.Sprintf("the kubelet, %s, has no feature gate %s", u.rig().Kubelet, gate)}
	}
	return all.Of(s, u.rig().Kubelet)
}

// Run runs the specs, and writes the report of that. An interrupt ends it early, and is no
// error.
func (u Upstream) Run(ctx context.Context, builder *build.Builder) (_ reports.Report, err error) {
	expected, err := upstream.Expected()
	if err != nil {
		return reports.Report{}, Failed(err)
	}
	binaries, err := Build(ctx, builder, u.Targets(), nil)
	if err != nil {
		return reports.Report{}, err
	}
	program := binaries[slices.IndexFunc(binaries, func(b build.Binary) bool { return b.Component == build.NodeE2E })]
	all, err := listSpecs(ctx, program.Path)
	if err != nil {
		return reports.Report{}, err
	}
	specs, err := u.Choice.Of(all)
	if err != nil {
		return reports.Report{}, err
	}
	dir, err := u.Place.Claim(u.cells(specs))
	if err != nil {
		return reports.Report{}, err
	}
	defer func() { err = errors.Join(err, Failed(dir.Close())) }()
	if err := dir.clear(); err != nil {
		return reports.Report{}, err
	}
	run := &specsRun{Upstream: u, program: program.Path, expected: expected, of: len(specs)}
	cells, err := run.all(ctx, builder, specs)
	if err != nil {
		return reports.Report{}, err
	}
	u.Reproduce.Components = components(binaries)
	report, err := reports.Assemble(cells, nil, u.Reproduce)
	if err != nil {
		return report, Failed(err)
	}
	if u.Release == release.Newest {
		report.Problems = expected.Problems(all)
	}
	report.Partial = run.partial
	return finish(u.Place.Dir, report)
}

// cells are the ids of the cells that specs are.
func (u Upstream) cells(specs []upstream.Spec) (ids []string) {
	for _, s := range specs {
		ids = append(ids, u.rig().CellID(s))
	}
	return ids
}

func (u Upstream) rig() upstream.Rig {
	return upstream.Rig{
		ControlPlane: u.Sources.Of(string(build.APIServer), u.Release),
		Kubelet:      u.Sources.Of(string(build.Kubelet), u.Kubelet),
	}
}

// specsRun is a run of specs on one rig.
type specsRun struct {
	Upstream
	program    string
	expected   upstream.Expectations
	kubeconfig string

	mu       sync.Mutex
	done, of int
	cells    []reports.Cell
	partial  string // why not all were run; empty if they were
}

// all runs specs: those that may have company first, the others one after the other.
func (r *specsRun) all(ctx context.Context, builder *build.Builder, specs []upstream.Spec) (_ []reports.Cell, err error) {
	together, alone := r.divide(specs)
	if len(together)+len(alone) == 0 {
		return r.cells, nil
	}
	rig, err := r.start(ctx, builder, upstream.GatesOf(slices.Concat(together, alone)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, Failed(rig.Close())) }()
	r.kubeconfig = rig.Kubeconfig()
	bound, cancel := rig.Bind(ctx)
	defer cancel()
	group := new(errgroup.Group)
	group.SetLimit(r.Parallel)
	for _, s := range together {
		group.Go(func() error { return r.one(bound, s) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, s := range alone {
		if err := r.one(bound, s); err != nil {
			return nil, err
		}
	}
	switch {
	case ctx.Err() != nil:
		r.partial = "it was interrupted"
	case bound.Err() != nil:
		r.partial = "the rig ended: " + context.Cause(bound).Error()
	}
	return r.cells, nil
}

// divide are the specs that are run: those that may have company, the slow ones first, and those
// that are run alone. The others are reported.
func (r *specsRun) divide(specs []upstream.Spec) (together, alone []upstream.Spec) {
	for _, s := range specs {
		switch e := r.expectation(s, r.expected); {
		case e != nil && e.NotRun:
			r.add(s, upstream.Judge(s, r.rig(), nil, e))
		case s.Serial:
			alone = append(alone, s)
		default:
			together = append(together, s)
		}
	}
	slices.SortStableFunc(together, slowFirst)
	return together, alone
}

// slowFirst orders specs such that none of those that take long begins when the others are done.
func slowFirst(a, b upstream.Spec) int {
	switch {
	case a.Slow == b.Slow:
		return 0
	case a.Slow:
		return -1
	}
	return 1
}

// start starts the rig. Its logs are beside the report.
func (r *specsRun) start(ctx context.Context, builder *build.Builder, gates []string) (*engine.Rig, error) {
	library, err := engine.Library(ctx, nil, builder.Binary)
	if err != nil {
		return nil, Failed(err)
	}
	topology := r.topology(gates)
	config := engine.ClusterConfig(topology, library, nil)
	config.Binary, config.Purpose, config.ReportDir = builder.Binary, upstream.Area, r.Place.Dir
	config.LogDir = filepath.Join(r.Place.Dir, "shared", "logs")
	began := time.Now()
	rig, err := engine.Start(ctx, topology, config)
	if err != nil {
		return nil, Failed(err)
	}
	set := "default gates"
	if len(topology.Gates) > 0 {
		set = topology.Gates.String()
	}
	r.Note(fmt.Sprintf("rig: control plane %s, kubelet %s, %s, up after %.1fs", r.rig().ControlPlane, r.rig().Kubelet, set, time.Since(began).Seconds()))
	return rig, nil
}

// one runs a spec, unless the run has ended.
func (r *specsRun) one(ctx context.Context, s upstream.Spec) error {
	select {
	case <-ctx.Done():
		r.add(s, upstream.Judge(s, r.rig(), nil, nil))
		return nil
	default:
	}
	dir := filepath.Join(r.Place.Dir, filepath.FromSlash(reports.RunDir(r.rig().CellID(s), 1)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Failed(err)
	}
	attempt, err := runSpec(ctx, r.program, r.kubeconfig, s, dir)
	if err != nil {
		return Failed(err)
	}
	r.add(s, upstream.Judge(s, r.rig(), &attempt, r.expectation(s, r.expected)))
	return nil
}

// add adds a result, and tells it.
func (r *specsRun) add(s upstream.Spec, cell reports.Cell) {
	cell = cell.Settled()
	cell.Again = CommandLine(slices.Concat([]string{""}, r.Args, []string{"--focus", "^" + regexp.QuoteMeta(s.Name) + "$"}))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cells = append(r.cells, cell)
	r.done++
	r.Tell(cell, r.done, r.of)
}
