package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/runtime"
	"github.com/skewrig/skewrig/fakeservers/webhook"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/podsapi/client"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// run is a cell while it runs.
type run struct {
	*Rig
	seat       *seat        // nil: the control plane is the cell's own
	made       *madeCluster // nil: the cell runs on no cluster that was made for it
	watching   *watching    // of an existing cluster
	names      names
	cell       plan.Cell
	program    *check.Program
	history    *record.History
	machine    *machine
	objects    map[string]*objects // by the cluster that a reference names, of the first API server
	others     map[string]*objects // by the API server, of those after it
	tracker    *check.Tracker
	namespaces map[string]bool
	agents     map[string]*client.Agent // by node
	red        bool                     // a check did not hold, as far as could be seen
	unmet      error                    // why the scenario can't go on, if that is what the cluster did
	over       bool                     // the record has ended
	failFast   bool                     // that is the end
	binary     func(context.Context, build.Target) (build.Binary, error)
	begin      func(plan.Step) // is called with each step
	current    plan.Step       // the one that is taken
	admission  admission
	// settle returns when all that has happened until now is in the history. If unset, it is.
	settle func(context.Context) error
	// ground ends when what the cell runs on does: its rig, or the watch of an existing cluster.
	ground context.Context //nolint:containedctx // another's lifetime
}

// ClusterConfig is the configuration of the rig that a topology describes, with
// the fake container runtime on each node.
func ClusterConfig(t record.Topology, library image.Library, recorder record.Recorder) cluster.Config {
	config := cluster.Config{
		Topology: t,
		Recorder: recorder,
		Runtime: func(info cluster.NodeInfo) (cluster.Runtime, error) {
			if info.Runtime != "" {
				return nil, fmt.Errorf("node %s has %s, but no images were made for real containers", info.Name, info.Runtime)
			}
			return runtime.Start(runtime.Config{
				Socket: info.Socket, Node: info.Name, PodCIDR: info.Addresses, Handlers: info.Handlers.Names, Shuffled: info.Handlers.Shuffled,
				Library: library, Recorder: recorder, Kept: info.Output, Volumes: info.Volumes, Logs: info.Logs, HostRoot: info.HostRoot, Network: info.Network,
			})
		},
	}
	for _, l := range t.Links {
		if (l.To == spec.APIServer || l.To == spec.Etcd) && l.From != spec.Watchdog {
			config.Links = append(config.Links, cluster.Link{From: l.From, HTTP: slices.Contains(t.Inspected, l.From)})
		}
	}
	config.Via = make(map[string][]string)
	if t.LeaseNodes != nil {
		config.Clients, config.Via[spec.LeasingNodes] = []string{spec.LeasingNodes}, t.LeaseNodes.Via
	}
	if t.Garden != nil {
		// The watchdog's requests are always recorded.
		config.Clients, config.Via[spec.Watchdog] = append(config.Clients, spec.Watchdog), t.Garden.Via
		config.Links = append(config.Links, cluster.Link{From: spec.Watchdog, HTTP: true})
	}
	return config
}

// ClusterConfigs is ClusterConfig of any topology, with what containers run.
func ClusterConfigs(library image.Library) func(record.Topology, record.Recorder) cluster.Config {
	return func(t record.Topology, r record.Recorder) cluster.Config { return ClusterConfig(t, library, r) }
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
func (e *Engine) runCell(ctx context.Context, cell plan.Cell, program *check.Program, on *controlPlane, dir string) (_ []record.Event, err error) {
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

	r := &run{
		cell: cell, program: program, history: history, machine: watchMachine(), failFast: e.FailFast,
		objects: make(map[string]*objects), others: make(map[string]*objects), tracker: check.NewTracker(), namespaces: map[string]bool{metav1.NamespaceDefault: true}, agents: make(map[string]*client.Agent),
		begin: func(step plan.Step) { e.tell(Progress{Cell: cell, Step: &step}) },
	}
	r.binary = e.Binary
	r.names.scheduled = cell.Topology.Scheduler
	for _, node := range cell.Topology.Nodes {
		r.names.nodes = append(r.names.nodes, node.Name)
	}
	late := r.end(ctx, e.runWhere(ctx, r, on, dir))
	return history.Events(), errors.Join(history.Err(), late)
}

// end ends the record of a cell with how it ran, and with the error of its rig. If the record had
// ended before, it returns that error.
func (r *run) end(ctx context.Context, rig error) error {
	lateness := r.machine.stop()
	if r.over {
		return rig
	}
	r.over = true
	conclude(r.history, lateness, ended(ctx, r.unmet, rig))
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
func (e *Engine) keep(ctx context.Context, r *run, rig error) (recorded bool) {
	if e.Keep == nil || r.seat != nil || ctx.Err() != nil {
		return false
	}
	soFar := r.history.Copy()
	conclude(soFar, r.machine.lateness(), ended(ctx, r.unmet, rig))
	result := result(ctx, r.cell, r.program, soFar.Events())
	if !e.unexpected(result) {
		return false
	}
	_ = r.end(ctx, rig) // it has not ended before
	e.Keep(ctx, result, r.Rig)
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

// runWhere runs a cell where the engine runs cells. The error is one of the rig.
func (e *Engine) runWhere(ctx context.Context, r *run, on *controlPlane, dir string) error {
	there := e.Existing
	if e.Kind != nil {
		var err error
		if there, err = e.Kind.of(r.cell); err != nil {
			return err
		}
	}
	if there != nil {
		return there.runOnExisting(ctx, r)
	}
	return e.runOn(ctx, r, on, dir)
}

func (e *Engine) runOn(ctx context.Context, r *run, on *controlPlane, dir string) (err error) {
	if on != nil {
		if r.seat, err = on.seat(r); err != nil {
			return err
		}
		defer on.hub.leave(r.seat.suffix)
	}
	if err := e.startRig(ctx, r, dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.leave(dir)) }()
	for name, c := range map[string]*cluster.Cluster{"": r.Cluster, spec.Seed: r.seed} {
		if c == nil {
			continue // no garden
		}
		if r.objects[name], err = newObjects(c.RESTConfig(), name); err != nil {
			return err
		}
	}
	ctx, cancel := r.Bind(ctx)
	defer cancel()
	defer r.closeAgents()
	r.admission = admission{servers: make(map[string]*webhook.Server), converters: make(map[string]*webhook.Converter)}
	defer func() { err = errors.Join(err, r.admission.close()) }()
	err = r.steps(ctx)
	if e.keep(ctx, r, err) {
		return nil
	}
	return err
}

// leave ends a cell's rig. What is taken away then from a control plane that others use goes
// into no record.
func (r *run) leave(dir string) error {
	if r.seat == nil {
		return r.Close()
	}
	r.seat.hub.leave(r.seat.suffix)
	return errors.Join(r.Close(), r.seat.keepLogs(r, dir))
}

// startRig starts a cell's rig: all of it, or its nodes on the control plane where it has
// its place.
func (e *Engine) startRig(ctx context.Context, r *run, dir string) error {
	if err := e.built(ctx, r.cell); err != nil {
		return err
	}
	library, err := Library(ctx, r.cell.Images, e.Binary)
	if err != nil {
		return err
	}
	config := WithContainers(ctx, ClusterConfig(r.cell.Topology, library, r.history), NewContainers(Played{Images: r.cell.Images}, r.cell, e.Binary))
	config.AllowHost, config.Binary, config.TempDir, config.LogDir = e.AllowHost, e.Binary, e.TempDir, filepath.Join(dir, reports.LogsDir)
	config.Purpose, config.ReportDir = r.cell.ID, e.Dir
	if r.seat != nil {
		config.On, config.Suffix = r.seat.rig, r.seat.suffix
	}
	started, err := mayStart(ctx)
	if err != nil {
		return err
	}
	defer started()
	ctx, cancel := r.machine.withTimeout(ctx, startLimit, fmt.Errorf("not up within %s", startLimit))
	defer cancel()
	if r.Rig, err = Start(ctx, r.cell.Topology, config); err != nil {
		return fmt.Errorf("starting the rig: %w", err)
	}
	r.ground = r.Context()
	return nil
}

// steps takes the cell's steps. After the first one that can't be done, only
// those are taken that are for after a failure. The error is one of the rig; run.unmet is
// none.
func (r *run) steps(ctx context.Context) error {
	var failed error
	for _, step := range r.cell.Steps {
		if ctx.Err() != nil || !r.due(step, failed) {
			continue
		}
		if err := r.take(ctx, step); err != nil && failed == nil {
			failed = fmt.Errorf("step %d (%s): %w", step.Number, step.Action.Describe(), err)
		}
	}
	if errors.Is(failed, errUnmet) {
		r.unmet, failed = failed, nil
	}
	return cmp.Or(failed, context.Cause(ctx))
}

// due reports whether it is time for a step.
func (r *run) due(step plan.Step, failed error) bool {
	switch step.Run {
	case record.Catch:
		return failed != nil || r.red
	case record.Cleanup:
		return true
	default:
		return failed == nil && !r.enough()
	}
}

// enough reports whether nothing more is to be learned from the cell.
func (r *run) enough() bool { return r.red && r.failFast }

// take takes a step, and says in the history how it ended. Only the history has what
// a catch step could not do.
func (r *run) take(ctx context.Context, step plan.Step) error {
	if r.walks(step) { // in the record, it begins when all are there
		if err := r.seat.barrier.Meet(ctx, func() error { return nil }); err != nil {
			return err
		}
	}
	if err := r.settled(ctx); err != nil {
		return err
	}
	r.begin(step)
	r.current = step
	r.history.Append("engine", step.Name, record.StepStarted{
		Number: step.Number, Name: step.Name, Action: step.Action.Describe(),
	})
	done := record.StepDone{Number: step.Number}
	err := r.do(ctx, step)
	if err == nil {
		err = r.settled(ctx)
	}
	if err != nil {
		done.Error, done.Unmet = err.Error(), errors.Is(err, errUnmet)
	}
	if step.Run == record.Catch {
		done.Unmet, err = false, nil
	}
	r.history.Append("engine", step.Name, done)
	return err
}

// settled is described at run.settle.
func (r *run) settled(ctx context.Context) error {
	if r.settle == nil {
		return nil
	}
	return r.settle(ctx)
}

// walks reports whether a step is one that several cells take in step.
func (r *run) walks(step plan.Step) bool {
	return r.seat != nil && r.seat.barrier != nil && action.ReachOf(step.Action) == action.ReachChanges
}

// errUnmet marks that a scenario can't go on because of what the cluster did,
// and not because of the rig.
var errUnmet = errors.New("the scenario can't go on")

// unmet marks the end of a wait as such, unless the rig itself has ended.
func unmet(r *run, err error) error {
	if r.ground.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", errUnmet, err)
}

const (
	// startLimit is how long a rig may take to start, and stepLimit a step
	// that does not say itself how long it takes.
	startLimit, stepLimit = 5 * time.Minute, 3 * time.Minute
)

// do runs one step, within the limit and the time that it takes on purpose unless it ends by itself.
func (r *run) do(ctx context.Context, step plan.Step) error {
	if facts := step.Action.Facts(); !facts.Bounded {
		limit := stepLimit + facts.Lasts
		limited, cancel := r.machine.withTimeout(ctx, limit, fmt.Errorf("not done within %s", limit))
		defer cancel()
		ctx = limited
	}
	run := func() error { return step.Action.Run(ctx, r) }
	if r.walks(step) {
		return r.seat.barrier.Meet(ctx, run)
	}
	return run()
}

// Wait implements action.Rig.
func (r *run) Wait(ctx context.Context, condition string, within time.Duration) error {
	if condition == "" {
		select {
		case <-time.After(within):
			return nil
		case <-ctx.Done(): // the rig has ended, too
			return context.Cause(ctx)
		}
	}
	ctx, cancel := r.machine.withTimeout(ctx, within, fmt.Errorf("not within %s", within))
	defer cancel()
	var last error
	err := r.history.Wait(ctx, func(events []record.Event) bool {
		var met bool
		met, last = r.tracker.Until(ctx, r.program, r.current.Number, events)
		return met || check.IsTooCostly(last)
	})
	last = r.tracker.Explain(r.program, r.current.Number, last)
	if check.IsTooCostly(last) {
		return unmet(r, last)
	}
	if err != nil {
		return fmt.Errorf("waiting until %s: %w", condition, errors.Join(unmet(r, err), last))
	}
	return nil
}

// Watch implements action.Rig.
func (r *run) Watch(ctx context.Context, checks action.Checks) error {
	step := r.current.Number
	for _, c := range checks.Checks {
		r.history.Append("engine", c.ID, record.CheckOpened{Step: step})
	}
	watching := r.tracker.Watch(ctx, r.program, checks, r.history.Events())
	opened := r.opens()
	pending := checks.Checks
	for {
		var left []action.Check
		for _, c := range pending {
			if !watching.Decided(c.ID) && opened.left(c) > 0 {
				left = append(left, c)
				continue
			}
			r.red = r.red || !watching.Met(c.ID)
			r.history.Append("engine", c.ID, record.CheckClosed{Step: step, Watched: time.Since(opened.at).Seconds()})
		}
		if len(left) == 0 || r.enough() {
			return nil
		}
		pending = left
		if err := r.awaitDecision(ctx, watching, pending, opened.next(pending)); err != nil {
			return err
		}
		if err := r.settled(ctx); err != nil { // what has happened by now counts, also if it is not recorded yet
			return err
		}
		watching.Advance(ctx, r.history.Events())
	}
}

// opening is the moment from which checks are watched, by both clocks.
type opening struct {
	machine *machine
	at      time.Time
	elapsed time.Duration
}

func (r *run) opens() opening {
	return opening{machine: r.machine, at: time.Now(), elapsed: r.machine.now()}
}

// left is for how long a check is still to be watched. What must happen in time
// has the time that the machine needs for it; what must hold for a time has to
// hold for all of it.
func (o opening) left(c action.Check) time.Duration {
	if c.Mode.Awaits() {
		return time.Duration(c.Span) - (o.machine.now() - o.elapsed)
	}
	return time.Duration(c.Span) - time.Since(o.at)
}

// next is how long it takes until the time of one of the checks may be over.
func (o opening) next(checks []action.Check) time.Duration {
	soonest := o.left(checks[0])
	for _, c := range checks[1:] {
		soonest = min(soonest, o.left(c))
	}
	return max(soonest, time.Millisecond)
}

// awaitDecision returns when one of the checks is decided, or after the given
// time.
func (r *run) awaitDecision(ctx context.Context, watching *check.Watching, pending []action.Check, limit time.Duration) error {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := r.history.Wait(timed, func(events []record.Event) bool {
		watching.Advance(ctx, events)
		for _, c := range pending {
			if watching.Decided(c.ID) {
				return true
			}
		}
		return false
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
