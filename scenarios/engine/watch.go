package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/provider"
)

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
	ctx, cancel := r.machine.WithTimeout(ctx, within, fmt.Errorf("not within %s", within))
	defer cancel()
	var last error
	err := r.history.Wait(ctx, func(events []record.Event) bool {
		var met bool
		met, last = r.tracker.Until(ctx, r.program, r.current.Number, events)
		return met || expr.IsTooCostly(last)
	})
	last = r.tracker.Explain(r.program, r.current.Number, last)
	if expr.IsTooCostly(last) {
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
		if err := r.session.Settle(ctx); err != nil { // what has happened by now counts, also if it is not recorded yet
			return err
		}
		watching.Advance(ctx, r.history.Events())
	}
}

// opening is the moment from which checks are watched, by both clocks.
type opening struct {
	machine *provider.Machine
	at      time.Time
	elapsed time.Duration
}

func (r *run) opens() opening {
	return opening{machine: r.machine, at: time.Now(), elapsed: r.machine.Now()}
}

// left is for how long a check is still to be watched. What must happen in time
// has the time that the machine needs for it; what must hold for a time has to
// hold for all of it.
func (o opening) left(c action.Check) time.Duration {
	if c.Mode.Awaits() {
		return time.Duration(c.Span) - (o.machine.Now() - o.elapsed)
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
