package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
	"github.com/skewrig/skewrig/scenarios/schedule"
)

// Run runs cells and returns their results in the same order. Cells that an
// interrupt kept from running are unknown, those that ask for what their nodes can't do
// are not testable, and those that the releases can't run are not applicable. The error is about the run as a
// whole: expressions that don't compile, before anything is started.
func (e *Engine) Run(ctx context.Context, cells []plan.Cell) ([]reports.Cell, error) {
	programs, err := Compile(cells)
	if err != nil {
		return nil, err
	}
	on := e.provider()
	results := make([]reports.Cell, len(cells))
	var places []int // of the testable ones
	var testable []plan.Cell
	var theirs []*check.Program
	for i, cell := range cells {
		outcome, why := reports.NotTestable, cmp.Or(plan.Untestable(cell), on.Unfit(cell))
		if cell.Unfit != "" {
			outcome, why = reports.NotApplicable, cell.Unfit
		}
		if why != "" {
			e.tell(Progress{Cell: cell})
			results[i] = excused(cell, programs[i], outcome, why)
			e.tell(Progress{Cell: cell, Result: &results[i]})
			continue
		}
		places, testable, theirs = append(places, i), append(testable, cell), append(theirs, programs[i])
	}
	for at, r := range e.runAll(ctx, testable, theirs) {
		results[places[at]] = r
	}
	return results, nil
}

// runAll runs cells that can run, and returns their results in the same order.
func (e *Engine) runAll(ctx context.Context, cells []plan.Cell, programs []*check.Program) []reports.Cell {
	rigs, on := max(e.Parallel, 1), e.provider()
	if _, creates := on.(provider.Pool); creates {
		rigs = min(rigs, runtime.NumCPU()) // a cluster is all of a machine's programs, and not only a rig's
	}
	b := &batch{
		Engine: e, on: on, cells: cells, programs: programs, results: make([]reports.Cell, len(cells)),
		room: semaphore.NewWeighted(int64(wholeRig * rigs)), part: int64(wholeRig * rigs / Beside(rigs, cells)),
	}
	groups := b.groups()
	var parties [][]int
	for _, g := range groups {
		parties = append(parties, g.All())
	}
	var running sync.WaitGroup
	for at := range b.asBuilt(ctx, parties) {
		free := b.acquire(ctx, wholeRig)
		running.Go(func() { b.run(ctx, groups[at], free) })
	}
	running.Wait()
	return b.results
}

// Beside is how many cells run at the same time that share control planes, where so many do
// that have one of their own. A node with real containers takes as much as a control plane.
func Beside(parallel int, cells []plan.Cell) int {
	if parallel <= 1 || slices.ContainsFunc(cells, plan.HasContainers) {
		return max(parallel, 1)
	}
	return 3 * parallel
}

// wholeRig is the room that a cell with a control plane of its own takes, and a control
// plane while it starts: as much as so many cells that share one.
const wholeRig = 6

// batch is the cells of one run, each with its result at the same place.
type batch struct {
	*Engine
	on       provider.Provider
	cells    []plan.Cell
	programs []*check.Program
	results  []reports.Cell
	room     *semaphore.Weighted
	part     int64 // the room that a cell takes which shares a control plane
}

// groups are those of the cells that share control planes, in the order in which they begin.
func (b *batch) groups() (all []schedule.Group) {
	pool, creates := b.on.(provider.Pool)
	_, shares := b.on.(*rig.Provider)
	switch {
	case creates:
		all = pool.Groups(b.cells)
	case shares && !b.Isolate:
		all = schedule.Groups(b.cells, Beside(b.Parallel, b.cells))
	default:
		for i := range b.cells {
			all = append(all, schedule.Group{Alone: []int{i}})
		}
	}
	if b.Shuffle != 0 {
		schedule.Shuffle(all, rand.New(rand.NewPCG(b.Shuffle, 0)))
	}
	return all
}

// acquire waits until there is room, or the context ends, and returns what frees it.
func (b *batch) acquire(ctx context.Context, room int64) (free func()) {
	if b.room.Acquire(ctx, room) != nil {
		return func() {}
	}
	return sync.OnceFunc(func() { b.room.Release(room) })
}

// members returns the cells of a group.
func (b *batch) members(g schedule.Group) (cells []plan.Cell) {
	for _, i := range g.All() {
		cells = append(cells, b.cells[i])
	}
	return cells
}

// run runs the cells of a group. It has room for a rig, which it frees.
func (b *batch) run(ctx context.Context, g schedule.Group, free func()) {
	defer free()
	if pool, creates := b.on.(provider.Pool); creates {
		b.onCreated(ctx, pool, g.All())
		return
	}
	on, leave := b.controlPlane(ctx, g)
	if on == nil {
		for _, i := range g.All() {
			b.take(ctx, i, place{Provider: b.on})
			b.tell(Progress{Cell: b.cells[i], Result: &b.results[i]})
		}
		return
	}
	free()
	held := b.together(ctx, g, on)
	if err := leave(); err != nil {
		last := held[len(held)-1]
		b.results[last] = unless(err, b.results[last])
	}
	for _, i := range held {
		b.confirm(ctx, i)
		b.tell(Progress{Cell: b.cells[i], Result: &b.results[i]})
	}
}

// besideOnCreated is how many cells run at the same time on a cluster that was created for them.
const besideOnCreated = 3

// onCreated runs cells on a cluster that is created for them, and deleted afterwards.
func (b *batch) onCreated(ctx context.Context, pool provider.Pool, all []int) {
	on, remove := pool.Create(ctx, b.members(schedule.Group{Beside: all}))
	var running errgroup.Group
	running.SetLimit(besideOnCreated)
	for _, i := range all {
		running.Go(func() error {
			b.take(ctx, i, place{Provider: on})
			return nil
		})
	}
	_ = running.Wait() // it has no error
	b.settle(all, remove())
}

// settle adds to the result of the last cell that the cluster could not be deleted. Then all results are final.
func (b *batch) settle(all []int, err error) {
	for at, i := range all {
		if at == len(all)-1 {
			b.results[i] = unless(err, b.results[i])
		}
		b.tell(Progress{Cell: b.cells[i], Result: &b.results[i]})
	}
}

// controlPlane returns what the cells of a group share, and what ends their use of it. It is
// nil for one cell, unless a control plane is warm, and if it can't start: then each cell says
// why.
func (b *batch) controlPlane(ctx context.Context, g schedule.Group) (_ *rig.ControlPlane, leave func() error) {
	rigs, shares := b.on.(*rig.Provider)
	members := b.members(g)
	switch {
	case shares && b.Warm != nil && g.Key != "":
		return b.Warm.Take(ctx, rigs, members, len(g.InStep) > 0)
	case !shares || len(members) == 1:
		return nil, nil
	}
	on, err := rigs.Share(ctx, members)
	if err != nil {
		return nil, nil
	}
	return on, on.Close
}

// together runs cells on a control plane, as long as that is well. It returns those whose
// results are not final: what has to come out again, and the last one, which answers for the
// end of the control plane.
func (b *batch) together(ctx context.Context, g schedule.Group, on *rig.ControlPlane) (held []int) {
	var mu sync.Mutex
	all := g.All()
	one := func(i int, at place) {
		b.take(ctx, i, at)
		if i == all[len(all)-1] || b.doubtful(i) {
			mu.Lock()
			defer mu.Unlock()
			held = append(held, i)
			return
		}
		b.tell(Progress{Cell: b.cells[i], Result: &b.results[i]})
	}
	var beside sync.WaitGroup
	for at := range b.asBuilt(ctx, each(g.Beside)) {
		i := g.Beside[at]
		free := b.acquire(ctx, b.part)
		beside.Go(func() {
			defer free()
			one(i, place{Provider: on})
		})
	}
	beside.Wait()
	oneByOne := func(cells []int) {
		for at := range b.asBuilt(ctx, each(cells)) {
			where, room := place{Provider: on}, b.part
			if !on.Healthy() {
				where, room = place{Provider: b.on}, wholeRig
			}
			free := b.acquire(ctx, room)
			one(cells[at], where)
			free()
		}
	}
	oneByOne(g.Alone)
	if len(g.InStep) > 1 {
		b.inStep(ctx, g.InStep, on, one)
	} else {
		oneByOne(g.InStep) // the last one, also if what it needs is built before that of others
	}
	return held
}

// inStep runs cells that change a control plane in step. They wait for each other, so that
// there has to be room for all.
func (b *batch) inStep(ctx context.Context, cells []int, on *rig.ControlPlane, one func(i int, at place)) {
	for _, i := range cells {
		_ = provider.Built(ctx, b.cells[i], b.Binary) // its cell finds out, too
	}
	free := b.acquire(ctx, b.part*int64(len(cells)))
	defer free()
	barrier := schedule.NewBarrier(len(cells))
	var walking sync.WaitGroup
	for _, i := range cells {
		walking.Go(func() {
			defer barrier.Leave()
			one(i, place{on, barrier})
		})
	}
	walking.Wait()
}

// take runs a cell at a place.
func (b *batch) take(ctx context.Context, i int, at place) {
	b.tell(Progress{Cell: b.cells[i]})
	b.results[i] = b.cell(ctx, b.cells[i], b.programs[i], at)
}

// doubtful reports whether a result may come from the cell's neighbors, and has to come out
// again.
func (b *batch) doubtful(i int) bool { return b.Warm == nil && b.unexpected(b.results[i]) }

// confirm runs a cell with a doubtful result again, on a control plane of its own. What it
// comes to there counts. If that is not the same, the fault is ours. If it can't run to its end
// there, nothing is confirmed. Both records stay.
func (b *batch) confirm(ctx context.Context, i int) {
	if !b.doubtful(i) {
		return
	}
	shared, id := b.results[i], b.cells[i].ID
	kept := SharedDir(b.Dir, id)
	if err := errors.Join(os.MkdirAll(filepath.Dir(kept), 0o755), os.Rename(CellDir(b.Dir, id), kept)); err != nil {
		b.results[i] = unless(err, shared)
		return
	}
	free := b.acquire(ctx, wholeRig)
	defer free()
	b.results[i] = b.cell(ctx, b.cells[i], b.programs[i], place{Provider: b.on})
	if b.results[i].Started.IsZero() { // it did not begin again, but it did begin
		b.results[i].Started, b.results[i].DurationSeconds = shared.Started, shared.DurationSeconds
	}
	if !b.doubtful(i) {
		beside := fmt.Sprintf("beside other cells it was not as expected (record: %s): %s", kept, said(shared))
		b.results[i] = unconfirmed(b.results[i], CellDir(b.Dir, id), beside)
	}
}

// unconfirmed is the result of a cell that was red beside others and not when it ran alone. dir
// is the record of the run alone, and beside says what the other run came to. If the run alone
// was broken off or did not begin, the cell stays unknown; otherwise the fault is ours.
func unconfirmed(alone reports.Cell, dir, beside string) reports.Cell {
	if alone.Unfinished {
		alone.Reason = fmt.Sprintf("alone, the cell did not run to its end: %s; %s", alone.Reason, beside)
		return alone
	}
	return unless(fmt.Errorf("alone, the cell is as expected (record: %s); %s", dir, beside), alone)
}

// said is what a result comes to, in a sentence.
func said(r reports.Cell) string {
	if r.Reason != "" {
		return fmt.Sprintf("%s: %s", r.Outcome.Word(), r.Reason)
	}
	var checks []string
	for _, c := range r.Checks {
		if c.Outcome != reports.Pass {
			checks = append(checks, c.ID+": "+c.Outcome.Word())
		}
	}
	if len(checks) == 0 {
		return "all checks passed"
	}
	return strings.Join(checks, ", ")
}
