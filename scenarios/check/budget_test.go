package check

import (
	"testing"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
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

// TestAJudgementEnds: what a check costs is bounded over all events, and one that costs
// too much is unknown, with the reason, in each mode.
func TestAJudgementEnds(t *testing.T) {
	t.Parallel()
	for _, mode := range []record.Mode{record.Always, record.Never, record.Eventually} {
		c := eachPair
		if c.Mode = mode; mode != record.Always {
			c.Is = false
		}
		for items, want := range map[int]reports.Outcome{1000: reports.Unknown, maxItems: reports.Pass} {
			if mode == record.Eventually && want == reports.Pass {
				want = reports.Fail
			}
			p := cellWith(t, c)
			p.checks["pairs"].items = items
			got := Judge(p, exits("pairs", 100)).Checks[0]
			if got.Outcome != want || (got.Reason == tooMuch) != (want == reports.Unknown) {
				t.Errorf("%s, %d items: %s (%s), want %s", mode, items, got.Outcome, got.Reason, want)
			}
		}
	}
}

// TestNothingIsWatchedThatCostsTooMuch: nor does a run wait for it.
func TestNothingIsWatchedThatCostsTooMuch(t *testing.T) {
	t.Parallel()
	p := cellWith(t, eachPair)
	p.checks["pairs"].items = 1000
	w := NewTracker().Watch(p, action.Checks{Checks: []action.Check{eachPair}}, exits("pairs", 0)[:2])
	if w.Decided("pairs") {
		t.Fatal("decided before anything happened")
	}
	if w.Advance(exits("pairs", 100)); !w.Decided("pairs") {
		t.Error("it is still watched")
	}
}

// TestABudgetGrows: an evaluation begins with few items, and counts for no more than twice
// what it needs.
func TestABudgetGrows(t *testing.T) {
	t.Parallel()
	program, _, err := compile(`lists.range(1000).all(i, i < 1000)`)
	if err != nil {
		t.Fatal(err)
	}
	b := budget{left: 10_000, each: fewItems}
	for range 2 {
		if _, err := b.eval(program, nil); err != nil {
			t.Fatal(err)
		}
	}
	if b.each != 1024 || b.left != 10_000-(64+128+256+512+1024)-1024 {
		t.Errorf("%d each, %d left", b.each, b.left)
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
		if v := Judge(p, events); v.Checks[0].Outcome != reports.Pass {
			b.Fatal(v)
		}
	}
}
