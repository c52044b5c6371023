package app

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/upstream"
)

// Upstream is a run of upstream's own specs of the node on rigs.
type Upstream struct {
	// Release is that of the specs and the control planes.
	Release release.Version
	// Kubelets are the releases of the nodes. The specs run with each, on a rig of its own. There
	// is at least one.
	Kubelets []release.Version
	// Runtime is the container runtime of the nodes (record.Runtimes). If unset, the simulated one.
	Runtime string
	// Sources are the checkouts that stand in for releases.
	Sources release.Sources
	// Choice says which specs are run.
	Choice upstream.Choice
	// Parallel is how many specs run at the same time, on all rigs together. Each rig runs one at
	// least.
	Parallel int
	// Place is where the report goes.
	Place Place
	// Reproduce is what the report says of how to run the same again. Its components are added.
	Reproduce reports.Reproduce
	// Args are the arguments of skewrig for who runs one spec again, without those that choose the
	// node.
	Args []string
	// Tell is called with each spec that has ended, from one goroutine at a time, and with how
	// many have, of how many.
	Tell func(cell reports.Cell, done, of int)
	// Note is called with a sentence about what happens.
	Note func(string)
}

// ParallelSpecs is how many specs run at the same time unless a user says otherwise.
func ParallelSpecs() int { return 5 * runtime.NumCPU() }

// Check is an error if there can't be such rigs: all that is wrong.
func (u Upstream) Check() error {
	var problems []error
	for _, kubelet := range u.Kubelets {
		if kubelet.Compare(u.Release) > 0 {
			problems = append(problems, fmt.Errorf("the kubelet, %s, would be newer than its API server, %s, which Kubernetes does not support: choose an older one (--kubelet)", kubelet, u.Release))
		}
	}
	_, missing := OnRuntime(u.cells(), u.Runtime)
	return errors.Join(append(problems, missing)...)
}

// cells are the rigs as cells without steps.
func (u Upstream) cells() (all []plan.Cell) {
	return reports.Each(u.rigs(), func(rig specsRig) plan.Cell { return plan.Cell{Topology: rig.topology(nil)} })
}

// Targets are the programs that the run needs.
func (u Upstream) Targets() []build.Target {
	return append(Targets(u.cells()), build.Target{Component: build.NodeE2E, Version: u.Sources.Of(string(build.NodeE2E), u.Release)})
}

// rigs are those on which the specs run, in the order of Kubelets.
func (u Upstream) rigs() (all []specsRig) {
	return reports.Each(u.Kubelets, func(kubelet release.Version) specsRig { return specsRig{Upstream: u, kubelet: kubelet} })
}

// Run runs the specs, and writes the report of that. While it lasts, a partial report is in the
// directory. An interrupt ends it early, and is no error.
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
	u.Reproduce.Components = components(binaries)
	run := newSpecsRun(u, program.Path, expected, specs)
	if u.Release == release.Newest {
		run.problems = expected.Problems(all)
	}
	done, err := u.Place.begin(nil, run.ids())
	if err != nil {
		return reports.Report{}, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return run.run(ctx, func(rig specsRig) error { return run.on(ctx, builder, rig) })
}

// specOn is a spec on a rig: a cell.
type specOn struct {
	upstream.Spec
	rig specsRig
}

func (s specOn) id() string { return s.rig.name().CellID(s.Spec) }

// todo is each spec on each rig.
func (u Upstream) todo(specs []upstream.Spec) (all []specOn) {
	for _, rig := range u.rigs() {
		for _, s := range specs {
			all = append(all, specOn{s, rig})
		}
	}
	return all
}

// specsRun is a run of specs.
type specsRun struct {
	Upstream
	*drafter
	program  string
	expected upstream.Expectations
	problems []string // of the run as a whole
	todo     []specOn

	mu     sync.Mutex
	ended  map[string]reports.Cell // by id
	broken []string                // why not all were run; empty if they were
}

func newSpecsRun(u Upstream, program string, expected upstream.Expectations, specs []upstream.Spec) *specsRun {
	r := &specsRun{Upstream: u, program: program, expected: expected, todo: u.todo(specs), ended: make(map[string]reports.Cell)}
	r.drafter = newDrafter(u.Place.Dir, r.report)
	return r
}

func (r *specsRun) ids() (all []string) {
	return reports.Each(r.todo, specOn.id)
}

// run runs the specs, with a function that runs those of one rig, and writes the report. What fails of one rig
// keeps no other from its specs. Then the report has what was seen, and is returned with the error.
func (r *specsRun) run(ctx context.Context, on func(specsRig) error) (reports.Report, error) {
	return r.execute(ctx, func() ([]string, error) {
		rigs := r.rigs()
		failed := make([]error, len(rigs))
		var group sync.WaitGroup
		for i, rig := range rigs {
			group.Go(func() { failed[i] = on(rig) })
		}
		group.Wait()
		err := errors.Join(failed...)
		switch {
		case ctx.Err() != nil:
			r.broken = []string{"it was interrupted"}
		case err != nil:
			r.broken = append(r.broken, err.Error())
		}
		return r.broken, err
	})
}

// report is the report of what has run so far. If that is not everything, it is partial, and
// says why.
func (r *specsRun) report(why ...string) (reports.Report, error) {
	var cells []reports.Cell
	short := 0
	r.mu.Lock()
	for _, s := range r.todo {
		cell, has := r.ended[s.id()]
		if !has {
			cell = upstream.Judge(s.Spec, s.rig.name(), nil, nil)
		}
		if cell.Unfinished {
			short++
		}
		cells = append(cells, cell)
	}
	r.mu.Unlock()
	report, err := reports.Assemble(cells, nil, r.Reproduce)
	report.Problems = r.problems
	if short > 0 {
		report.BrokenOff = fmt.Sprintf("%s: %d of %d specs did not run to their end", strings.Join(why, "; "), short, len(r.todo))
		report.Partial = report.BrokenOff
	}
	return report, Failed(err)
}

// on runs the specs of one rig: those that may have company first, the others one after the other.
func (r *specsRun) on(ctx context.Context, builder *build.Builder, on specsRig) (err error) {
	together, alone := r.divide(on)
	if len(together)+len(alone) == 0 {
		return nil
	}
	rig, err := on.start(ctx, builder, gatesOf(slices.Concat(together, alone)))
	if ctx.Err() != nil && err != nil { // an interrupt is no error
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, Failed(rig.Close())) }()
	bound, cancel := rig.Bind(ctx)
	defer cancel()
	group := new(errgroup.Group)
	group.SetLimit(max(1, r.Parallel/len(r.Kubelets)))
	for _, s := range together {
		group.Go(func() error { return r.one(bound, rig.Kubeconfig(), s) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, s := range alone {
		if err := r.one(bound, rig.Kubeconfig(), s); err != nil {
			return err
		}
	}
	if bound.Err() != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.broken = append(r.broken, "the rig ended: "+context.Cause(bound).Error())
	}
	return nil
}

// gatesOf are the feature gates that specs ask for.
func gatesOf(all []specOn) []string {
	specs := reports.Each(all, func(s specOn) upstream.Spec { return s.Spec })
	return upstream.GatesOf(specs)
}

// divide are the specs that are run on a rig: those that may have company, the slow ones first,
// and those that are run alone. The others are reported.
func (r *specsRun) divide(on specsRig) (together, alone []specOn) {
	for _, s := range r.todo {
		if s.rig.kubelet != on.kubelet {
			continue
		}
		switch e := on.expectation(s.Spec, r.expected); {
		case e != nil && e.NotRun:
			r.add(s, upstream.Judge(s.Spec, on.name(), nil, e))
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
func slowFirst(a, b specOn) int {
	switch {
	case a.Slow == b.Slow:
		return 0
	case a.Slow:
		return -1
	}
	return 1
}

// one runs a spec, unless the run has ended.
func (r *specsRun) one(ctx context.Context, kubeconfig string, s specOn) error {
	select {
	case <-ctx.Done():
		return nil
	default:
	}
	dir, err := files.MkdirBelow(r.Place.Dir, reports.RunDir(s.id(), 1), 0o755)
	if err != nil {
		return Failed(err)
	}
	attempt, err := runSpec(ctx, r.program, kubeconfig, s.Spec, dir)
	if err != nil {
		return Failed(err)
	}
	r.add(s, upstream.Judge(s.Spec, s.rig.name(), &attempt, s.rig.expectation(s.Spec, r.expected)))
	return nil
}

// add adds a result, and tells it.
func (r *specsRun) add(s specOn, cell reports.Cell) {
	cell = cell.Settled()
	cell.Again = CommandLine(slices.Concat([]string{""}, r.Args, s.rig.args(), []string{"--focus", "^" + regexp.QuoteMeta(s.Name) + "$"}))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended[s.id()] = cell
	r.wake()
	r.Tell(cell, len(r.ended), len(r.todo))
}
