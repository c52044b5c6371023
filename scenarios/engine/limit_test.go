package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// slow is an action that takes as long as it is allowed to, and at most so long.
type slow struct {
	action.Action

	takes time.Duration
}

func (s slow) Run(ctx context.Context, _ action.Rig) error {
	select {
	case <-time.After(s.takes):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// TestAStepHasTheTimeThatItTakes: a step that says how long it takes is not ended before, and one that hangs is.
func TestAStepHasTheTimeThatItTakes(t *testing.T) {
	t.Parallel()
	const long = 5 * time.Minute
	for name, tc := range map[string]struct {
		does  action.Action
		takes time.Duration
		ends  bool
	}{
		"sockets for a while":       {action.Sockets{For: behavior.Duration(long)}, long, true},
		"a path until it is served": {action.Get{Code: 200, Within: behavior.Duration(long)}, long, true},
		"an agent that asks often":  {action.PodsAPI{Call: action.ListPods, Every: behavior.Duration(time.Minute), Times: 5}, long, true},
		"a wait":                    {action.Wait{For: behavior.Duration(time.Hour)}, time.Hour, true},
		"sockets once":              {action.Sockets{}, long, false},
		"sockets that hang":         {action.Sockets{For: behavior.Duration(long)}, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				// Nothing else runs: a busy machine has longer limits.
				m := provider.WatchMachine(func() float64 { return 0 })
				defer m.Stop()
				defer cancel()
				r := &run{machine: m}
				err := r.do(ctx, plan.Step{Action: slow{tc.does, tc.takes}})
				if (err == nil) != tc.ends || errors.Is(err, context.Canceled) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}
