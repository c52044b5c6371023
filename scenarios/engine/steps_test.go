package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestStepsAfterAFailure: steps are executed until one fails, and then those that are for after a failure.
func TestStepsAfterAFailure(t *testing.T) {
	t.Parallel()
	all := func(second error) []plan.Step {
		return []plan.Step{
			{Action: does{name: "first"}}, {Action: fails("second", second)}, {Action: does{name: "third"}},
			{Action: fails("catch", errors.New("in vain")), Run: record.Catch},
			{Action: does{name: "cleanup"}, Run: record.Cleanup}, {Action: does{name: "fourth"}},
		}
	}
	for name, tc := range map[string]struct {
		second  error
		want    []string
		outcome reports.Outcome
		ended   record.CellEnded
	}{
		"none": {want: []string{"first", "second", "third", "cleanup", "fourth"}, outcome: reports.Unknown},
		"the rig's": {
			second: errBroken, want: []string{"first", "second", "catch", "cleanup"}, outcome: reports.HarnessError,
			ended: record.CellEnded{Error: "step 2 (second): it broke", Rig: true},
		},
		"the cluster's": {
			second: fmt.Errorf("%w: refused", errUnmet), want: []string{"first", "second", "catch", "cleanup"}, outcome: reports.Unknown,
			ended: record.CellEnded{Error: "step 2 (second): the scenario can't go on: refused"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, calls, ended := runOnFake(t.Context(), t, new(Engine), cellOf(all(tc.second)...))
			if diff := cmp.Diff(append(append([]string{"open a/b/c"}, tc.want...), "close"), calls); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(tc.ended, ended); diff != "" {
				t.Errorf("how it ended, -want +got:\n%s", diff)
			}
			if result.Outcome != tc.outcome {
				t.Errorf("%s: %s", result.Outcome, result.Reason)
			}
		})
	}
}

// TestACheckThatDoesNotHold has the steps for that executed, and ends the cell if nothing else is to be learned.
func TestACheckThatDoesNotHold(t *testing.T) {
	t.Parallel()
	for failFast, want := range map[bool][]string{false: {"catch", "then"}, true: {"catch"}} {
		result, calls, _ := runOnFake(t.Context(), t, &Engine{FailFast: failFast}, cellOf(
			plan.Step{Action: action.Checks{Checks: []action.Check{{ID: "red", Mode: record.Now, Observe: "1", Is: 2}}}},
			plan.Step{Action: does{name: "catch"}, Run: record.Catch}, plan.Step{Action: does{name: "then"}},
		))
		if diff := cmp.Diff(want, calls[1:len(calls)-1]); diff != "" {
			t.Errorf("fail fast %t: -want +got:\n%s", failFast, diff)
		}
		if result.Checks[0].Outcome != reports.Fail {
			t.Errorf("%+v", result.Checks[0])
		}
	}
}

// TestALostProvider ends the cell with its cause, and no further step is executed.
func TestALostProvider(t *testing.T) {
	t.Parallel()
	lose := does{"lose", func(_ context.Context, r *run) error {
		s, _ := r.session.(*fakeSession)
		s.lose(errBroken)
		return nil
	}}
	result, calls, ended := runOnFake(t.Context(), t, new(Engine), cellOf(
		plan.Step{Action: lose}, plan.Step{Action: action.Wait{Until: "false", Within: behavior.Duration(time.Hour)}},
		plan.Step{Action: does{name: "cleanup"}, Run: record.Cleanup},
	))
	if diff := cmp.Diff([]string{"open a/b/c", "lose", "close"}, calls); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if result.Outcome != reports.HarnessError || !ended.Rig || !strings.Contains(ended.Error, errBroken.Error()) {
		t.Errorf("%s: %+v", result.Outcome, ended)
	}
}

// TestWhatCannotStart is no result of the cell.
func TestWhatCannotStart(t *testing.T) {
	t.Parallel()
	result, calls, ended := runOnFake(t.Context(), t, &Engine{Provider: &fakeProvider{refuse: errBroken}}, cellOf(plan.Step{Action: does{name: "first"}}))
	if len(calls) != 1 || result.Outcome != reports.HarnessError || !ended.Rig || ended.Error != errBroken.Error() {
		t.Errorf("%s: %+v after %q", result.Outcome, ended, calls)
	}
}

// TestAnInterrupt ends a cell that then has no result, and what it runs on.
func TestAnInterrupt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupt := does{"interrupt", func(context.Context, *run) error {
		cancel(errBroken)
		return nil
	}}
	result, calls, ended := runOnFake(ctx, t, new(Engine), cellOf(plan.Step{Action: interrupt}, plan.Step{Action: does{name: "cleanup"}, Run: record.Cleanup}))
	if diff := cmp.Diff([]string{"open a/b/c", "interrupt", "close"}, calls); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if result.Outcome != reports.Unknown || !result.Unfinished || ended != (record.CellEnded{Error: errBroken.Error(), Interrupted: true}) {
		t.Errorf("%s, unfinished %t: %+v", result.Outcome, result.Unfinished, ended)
	}
}

// TestARestartGivesWhatThePlanHas, and stops a component only if it runs.
func TestARestartGivesWhatThePlanHas(t *testing.T) {
	t.Parallel()
	const kubelet = "kubelet/node-a"
	after := []record.Component{{Name: kubelet, Version: "v1.90.1", Gates: release.Gates{"A": true, "B": false}}}
	_, calls, _ := runOnFake(t.Context(), t, new(Engine), cellOf(
		plan.Step{Action: action.Restart{Component: kubelet, Gates: release.Gates{"B": false}}, Components: after},
		plan.Step{Action: action.Kill(kubelet)},
		plan.Step{Action: action.Restart{Component: kubelet, Stopped: true}, Components: after},
	))
	started := "start kubelet/node-a v1.90.1 A=true, B=false"
	if diff := cmp.Diff([]string{"open a/b/c", "stop " + kubelet, started, "kill " + kubelet, started, "close"}, calls); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestWhatAProviderCannotDo is said by the step that wants it.
func TestWhatAProviderCannotDo(t *testing.T) {
	t.Parallel()
	result, _, ended := runOnFake(t.Context(), t, new(Engine), cellOf(plan.Step{Action: action.Log{Component: "kube-scheduler", Match: "x"}}))
	if result.Outcome != reports.HarnessError || !strings.HasSuffix(ended.Error, "what the cell runs on has no logs") {
		t.Errorf("%s: %+v", result.Outcome, ended)
	}
}

// TestTheTimeOfAStep is limited, unless the step has its own.
func TestTheTimeOfAStep(t *testing.T) {
	t.Parallel()
	blocks := does{"block", func(ctx context.Context, _ *run) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}}
	for name, tc := range map[string]struct {
		action action.Action
		lasts  time.Duration
		ended  string
	}{
		"none":        {blocks, stepLimit, "step 1 (block): not done within 3m0s"},
		"a wait":      {action.Wait{For: behavior.Duration(2 * stepLimit)}, 2 * stepLimit, ""},
		"for sockets": {action.Sockets{Component: "kube-apiserver", For: behavior.Duration(stepLimit + time.Minute)}, stepLimit + time.Minute, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, _, ended := runOnFake(t.Context(), t, new(Engine), cellOf(plan.Step{Action: tc.action}))
				if took := time.Since(began); ended.Error != tc.ended || took < tc.lasts {
					t.Errorf("after %s: %+v", took, ended)
				}
			})
		})
	}
}

// TestChecksThatEndEarly: one that is decided is watched no longer, and the others for all of their time.
func TestChecksThatEndEarly(t *testing.T) {
	t.Parallel()
	const long = behavior.Duration(10 * time.Minute)
	broken := action.Check{ID: "broken", Mode: record.Always, Observe: "1", Is: 2, Span: long}
	met := action.Check{ID: "met", Mode: record.Eventually, Observe: "1", Is: 1, Span: long}
	holds := action.Check{ID: "holds", Mode: record.Always, Observe: "1", Is: 1, Span: long}
	for name, tc := range map[string]struct {
		checks   []action.Check
		failFast bool
		lasts    bool
	}{
		"all are decided": {checks: []action.Check{broken, met}},
		"one is not":      {checks: []action.Check{broken, met, holds}, lasts: true},
		"one is enough":   {checks: []action.Check{broken, holds}, failFast: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				e := &Engine{FailFast: tc.failFast}
				runOnFake(t.Context(), t, e, cellOf(plan.Step{Action: action.Checks{Checks: tc.checks}}))
				if took := time.Since(began); (took >= time.Duration(long)) != tc.lasts {
					t.Errorf("they were watched for %s", took)
				}
			})
		})
	}
}
