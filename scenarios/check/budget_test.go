package check

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// eachPair compares each exit with each other one, so that its cost grows with the square
// of the exits.
var eachPair = action.Check{
	ID: "pairs", Observe: `containers["tls/app"].exits.all(a, containers["tls/app"].exits.all(b, a.code == b.code))`, Is: true,
	Mode: record.Always, Span: behavior.Duration(time.Second),
}

// exits is a history in which a container ends many times while a check is watched.
func exits(id string, many int) []record.Event {
	return story(func(h *record.History) {
		started(h)
		opened(h, id)
		for range many {
			exited(h, "SIGTERM")
		}
		closed(h, id, time.Second)
	})
}

// TestAJudgementEnds: what the checks of a cell cost is bounded over all of them and all
// events, and the check that costs too much is unknown, with the place, in each mode.
func TestAJudgementEnds(t *testing.T) {
	t.Parallel()
	for _, mode := range []record.Mode{record.Always, record.Never, record.Eventually} {
		c := eachPair
		if c.Mode = mode; mode != record.Always {
			c.Is = false
		}
		for limit, want := range map[int]reports.Outcome{1000: reports.Unknown, expr.MaxCost: reports.Pass} {
			if mode == record.Eventually && want == reports.Pass {
				want = reports.Fail
			}
			p := cellWith(t, c)
			p.limit = limit
			got := Judge(t.Context(), p, exits("pairs", 100)).Checks[0]
			costly := strings.Contains(got.Reason, "c.yaml:0:1: too costly: the evaluations of this cell cost more than 1000 together") &&
				strings.Contains(got.Reason, "check pairs costs most")
			if got.Outcome != want || costly != (want == reports.Unknown) {
				t.Errorf("%s, limit %d: %s (%s), want %s", mode, limit, got.Outcome, got.Reason, want)
			}
		}
	}
}

// TestAJudgementIsInterrupted: it ends when its context does.
func TestAJudgementIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := cellWith(t, eachPair)
	v := Judge(ctx, p, exits("pairs", 100))
	if v.Outcome != reports.Unknown || !strings.Contains(v.Reason, "interrupted") || v.Checks[0].Outcome != reports.Unknown {
		t.Errorf("%+v", v)
	}
}

// TestNothingIsWatchedThatCostsTooMuch: nor does a run wait for it.
func TestNothingIsWatchedThatCostsTooMuch(t *testing.T) {
	t.Parallel()
	c := eachPair
	p := cellWith(t, c)
	tracker := NewTracker()
	tracker.checks = expr.NewBudget(1000)
	w := tracker.Watch(t.Context(), p, action.Checks{Checks: []action.Check{c}}, exits("pairs", 0)[:2])
	if w.Decided("pairs") {
		t.Fatal("decided before anything happened")
	}
	if w.Advance(t.Context(), exits("pairs", 100)); !w.Decided("pairs") {
		t.Error("it is still watched")
	}
}

func BenchmarkJudge(b *testing.B) {
	c := action.Check{
		ID: "exits", Observe: `containers["tls/app"].exits.filter(e, e.signal != "SIGTERM").size()`, Is: 0,
		Mode: record.Always, Span: behavior.Duration(time.Second),
	}
	p, err := Compile(plan.Cell{ID: "a/b/c", File: "c.yaml", Steps: []plan.Step{{Number: 1, Name: "1", Action: action.Checks{Checks: []action.Check{c}}}}})
	if err != nil {
		b.Fatal(err)
	}
	events := exits("exits", 500)
	for b.Loop() {
		if v := Judge(b.Context(), p, events); v.Checks[0].Outcome != reports.Pass {
			b.Fatal(v)
		}
	}
}
