package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

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
	if r.inStep(step) { // in the record, it begins when all have arrived
		if err := r.barrier.Meet(ctx, func() error { return nil }); err != nil {
			return err
		}
	}
	if err := r.session.Settle(ctx); err != nil {
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
		err = r.session.Settle(ctx)
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

// inStep reports whether a step is one that several cells take in step.
func (r *run) inStep(step plan.Step) bool {
	return r.barrier != nil && action.ReachOf(step.Action) == action.ReachChanges
}

// errUnmet marks that a scenario can't go on because of what the cluster did,
// and not because of the rig.
var errUnmet = errors.New("the scenario can't go on")

// unmet marks the end of a wait as such, unless the rig itself has ended.
func unmet(r *run, err error) error {
	if r.session.Context().Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", errUnmet, err)
}

// stepLimit is how long a step may take that does not say itself how long it takes.
const stepLimit = 3 * time.Minute

// do runs one step, within the limit and the time that it takes on purpose unless it ends by itself.
func (r *run) do(ctx context.Context, step plan.Step) error {
	if facts := step.Action.Facts(); !facts.Bounded {
		limit := stepLimit + facts.Lasts
		limited, cancel := r.machine.WithTimeout(ctx, limit, fmt.Errorf("not done within %s", limit))
		defer cancel()
		ctx = limited
	}
	run := func() error { return step.Action.Run(ctx, r) }
	if r.inStep(step) {
		return r.barrier.Meet(ctx, run)
	}
	return run()
}
