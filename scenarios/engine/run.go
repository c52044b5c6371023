package engine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/fakeservers/webhook"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/podsapi/client"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
	"github.com/skewrig/skewrig/scenarios/schedule"
)

// run is a cell while it runs.
type run struct {
	session   provider.Session // what it runs on
	barrier   *schedule.Barrier
	cell      plan.Cell
	program   *check.Program
	history   *record.History
	machine   *provider.Machine
	objects   map[string]*objects // by the API server
	tracker   *check.Tracker
	agents    map[string]*client.Agent // by node
	red       bool                     // a check did not hold, as far as could be seen
	unmet     error                    // why the scenario can't go on, if that is what the cluster did
	over      bool                     // the record has ended
	failFast  bool                     // that is the end
	binary    provider.Binary
	begin     func(plan.Step) // is called with each step
	current   plan.Step       // the one that is taken
	admission admission
}

func newRun(cell plan.Cell, program *check.Program, history *record.History) *run {
	return &run{
		cell: cell, program: program, history: history, machine: provider.WatchMachine(nil),
		objects: make(map[string]*objects), tracker: check.NewTracker(), agents: make(map[string]*client.Agent), begin: func(plan.Step) {},
		admission: admission{servers: make(map[string]*webhook.Server), converters: make(map[string]*webhook.Converter)},
	}
}

// writePlan leaves a cell's plan in dir, once to read and once as data.
func writePlan(dir string, cell plan.Cell) error {
	stored, err := plan.Stored(cell)
	if err != nil {
		return err
	}
	var data bytes.Buffer
	if err := stored.Write(&data); err != nil {
		return err
	}
	return errors.Join(
		files.WriteBytes(filepath.Join(dir, reports.PlanFile), 0o644, []byte(plan.Print(cell))),
		files.WriteBytes(filepath.Join(dir, reports.PlanData), 0o644, data.Bytes()))
}

// runCell runs a cell and leaves plan.txt, plan.json, history.jsonl and logs in dir. How
// the cell ended is part of its history; the error is about writing it, and about what was
// found after it had ended.
func (e *Engine) runCell(ctx context.Context, cell plan.Cell, program *check.Program, at place, dir string) (_ []record.Event, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := writePlan(dir, cell); err != nil {
		return nil, err
	}
	file, err := files.Create(filepath.Join(dir, reports.HistoryFile), 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	history := record.NewHistory(file)
	r := newRun(cell, program, history)
	r.barrier, r.failFast, r.binary = at.barrier, e.FailFast, e.Binary
	r.begin = func(step plan.Step) { e.tell(Progress{Cell: cell, Step: &step}) }
	late := r.end(ctx, e.runOn(ctx, r, at, dir))
	return history.Events(), errors.Join(history.Err(), late)
}

// end ends the record of a cell with how it ran, and with the error of its rig. If the record had
// ended before, it returns that error.
func (r *run) end(ctx context.Context, lost error) error {
	lateness := r.machine.Stop()
	if r.over {
		return lost
	}
	r.over = true
	conclude(r.history, lateness, ended(ctx, r.unmet, lost))
	r.history.End()
	return nil
}

// conclude appends to a history how its cell ran.
func conclude(h *record.History, lateness record.Lateness, ended record.CellEnded) {
	h.Append("engine", "", lateness)
	h.Append("engine", "", ended)
}

// keep leaves the rig for a look of a cell, before it is taken down, if the result is
// not as expected. Then the record ends before, with how the cell ran, and keep reports that. The
// record of a cell that is as expected goes on: more may be found when its rig is taken down.
func (e *Engine) keep(ctx context.Context, r *run, lost error) (recorded bool) {
	owner, has := r.session.(interface{ Own() *rig.Rig })
	if e.Keep == nil || !has || owner.Own() == nil || ctx.Err() != nil {
		return false
	}
	soFar := r.history.Copy()
	conclude(soFar, r.machine.Lateness(), ended(ctx, r.unmet, lost))
	result := result(ctx, r.cell, r.program, soFar.Events())
	if !e.unexpected(result) {
		return false
	}
	_ = r.end(ctx, lost) // it has not ended before
	e.Keep(ctx, result, owner.Own())
	return true
}

// ended is what the history says about how a cell ended, so that it can be
// judged without knowing anything else. The first error is one of the scenario, the second one of
// the rig.
func ended(ctx context.Context, unmet, rig error) record.CellEnded {
	err := errors.Join(unmet, rig)
	switch {
	case err == nil:
		return record.CellEnded{}
	case ctx.Err() != nil:
		return record.CellEnded{Error: context.Cause(ctx).Error(), Interrupted: true}
	default:
		return record.CellEnded{Error: err.Error(), Rig: rig != nil}
	}
}

// runOn runs a cell on a provider. The error is one of what it runs on.
func (e *Engine) runOn(ctx context.Context, r *run, on provider.Provider, dir string) (err error) {
	if r.session, err = on.Start(ctx, provider.Tenant{Cell: r.cell, History: r.history, Machine: r.machine, Dir: dir}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.session.Close()) }()
	ctx, cancel := provider.Bind(ctx, r.session)
	defer cancel()
	defer r.closeAgents()
	defer func() { err = errors.Join(err, r.admission.close()) }()
	err = r.steps(ctx)
	if e.keep(ctx, r, err) {
		return nil
	}
	return err
}
