package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

// TestWhatIsFoundAfterALookAtTheRig checks that keeping a rig does not change the outcome of its cell. Events
// and errors of the end of the rig are in the cell's record, or are returned if the rig was kept for a user.
func TestWhatIsFoundAfterALookAtTheRig(t *testing.T) {
	t.Parallel()
	idle := record.FaultEnded{Fault: record.LinkFault{Cut: record.CutDrop}}
	lost := errors.New("node-a: a record is lost")
	for name, tc := range map[string]struct {
		holds    bool // the cell's check
		found    record.Payload
		leave    error
		want     reports.Outcome
		why      string
		kept     bool
		returned error
	}{
		"green":                        {holds: true, want: reports.Pass},
		"green, and a record is lost":  {holds: true, leave: lost, want: reports.HarnessError, why: lost.Error()},
		"green, by a fault of nothing": {holds: true, found: idle, want: reports.Unknown, why: "had no effect"},
		"red":                          {want: reports.Fail, kept: true},
		"red, and a record is lost":    {leave: lost, want: reports.Fail, kept: true, returned: lost},
		"red, and a user heals it":     {found: record.ListenFailed{Error: "by hand"}, want: reports.Fail, kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := watchedRun(t, tc.holds)
			kept := false
			e := &Engine{
				Unexpected: func(c reports.Cell) bool { return c.Settled().Outcome != reports.Pass },
				Keep:       func(context.Context, reports.Cell, *rig.Rig) { kept = true },
			}
			if ended := e.keep(t.Context(), r, nil); kept != tc.kept || ended != tc.kept {
				t.Errorf("kept: %t, and its record has ended: %t", kept, ended)
			}
			if tc.found != nil {
				r.history.Append("link", "kubelet/node-a->kube-apiserver", tc.found)
			}
			if err := r.end(t.Context(), tc.leave); !errors.Is(err, tc.returned) || (err == nil) != (tc.returned == nil) {
				t.Errorf("returned %v", err)
			}
			got := result(t.Context(), r.cell, r.program, r.history.Events()).Settled()
			if got.Outcome != tc.want || !strings.Contains(got.Reason, tc.why) {
				t.Errorf("%s: %s", got.Outcome, got.Reason)
			}
		})
	}
}

// ownRig is a session with a rig of its own.
type ownRig struct{ *fakeSession }

func (ownRig) Own() *rig.Rig { return new(rig.Rig) }

// watchedRun is a run whose one check was watched, and holds or not.
func watchedRun(t *testing.T, holds bool) *run {
	t.Helper()
	one := action.Check{ID: "one", Mode: record.Now, Observe: "true", Is: holds}
	cells := []plan.Cell{{ID: "a/b/c", Steps: []plan.Step{{Number: 1, Name: "1", Action: action.Checks{Checks: []action.Check{one}}}}}}
	programs, err := Compile(cells)
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(cells[0], programs[0], new(record.History))
	r.session = ownRig{new(fakeSession)}
	t.Cleanup(func() { r.machine.Stop() })
	r.history.Append("engine", "1", record.StepStarted{Number: 1, Name: "1", Action: "checks"})
	r.history.Append("engine", one.ID, record.CheckOpened{Step: 1})
	r.history.Append("engine", one.ID, record.CheckClosed{Step: 1})
	r.history.Append("engine", "1", record.StepDone{Number: 1})
	return r
}

// TestARigThatIsLostAfterAWaitInVain: the record has both, and says that one of them is the rig's.
func TestARigThatIsLostAfterAWaitInVain(t *testing.T) {
	t.Parallel()
	lost, left := errors.New("the watch is lost"), errors.New("a port is left behind")
	for name, tc := range map[string]struct {
		lose, leave error
		want        string
		rig         bool
	}{
		"the wait alone":           {},
		"lost while it cleaned up": {lose: lost, want: "\nthe watch is lost", rig: true},
		"something was left":       {leave: left, want: "\na port is left behind", rig: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := waitingRun(t)
			ctx, lose := context.WithCancelCause(t.Context())
			defer lose(nil)
			r.session = &fakeSession{ctx: ctx}
			r.begin = func(step plan.Step) {
				if step.Run == record.Cleanup && tc.lose != nil {
					lose(tc.lose)
				}
			}
			if err := r.end(t.Context(), errors.Join(r.steps(ctx), tc.leave)); err != nil {
				t.Fatal(err)
			}
			for _, ended := range record.All[record.CellEnded](r.history.Events()) {
				waited, found := strings.CutSuffix(ended.Error, tc.want)
				if !found || !strings.HasPrefix(waited, "step 1 (wait up to 1ms until false)") || ended.Rig != tc.rig {
					t.Errorf("of the rig: %t: %s", ended.Rig, ended.Error)
				}
				return
			}
			t.Error("the record has no end")
		})
	}
}

// waitingRun is a run of a cell that waits in vain, and cleans up.
func waitingRun(t *testing.T) *run {
	t.Helper()
	cells := []plan.Cell{{ID: "a/b/c", Steps: []plan.Step{
		{Number: 1, Name: "1", Action: action.Wait{Until: "false", Within: behavior.Duration(time.Millisecond)}},
		{Number: 2, Name: "2", Action: action.Wait{For: behavior.Duration(time.Millisecond)}, Run: record.Cleanup},
	}}}
	programs, err := Compile(cells)
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(cells[0], programs[0], new(record.History))
	t.Cleanup(func() { r.machine.Stop() })
	return r
}
