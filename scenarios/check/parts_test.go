package check

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
)

// TestParts: what was false is told by what it is made of, as it was when the check
// was decided.
func TestParts(t *testing.T) {
	t.Parallel()
	events := story(func(h *record.History) {
		started(h)
		opened(h, "c")
		exited(h, "")
		started(h)
		closed(h, "c", 20*time.Second)
		exited(h, "") // too late to matter
		started(h)
	})
	app := `containers["tls/app"]`
	for observe, want := range map[string][]Part{
		app + `.restarts == 0 && ` + app + `.running`:    {{app + `.restarts`, "0"}, {app + `.running`, "false"}}, // it ends, and is not there again yet
		`!(` + app + `.restarts > ` + app + `.starts)`:   {{app + `.restarts`, "1"}, {app + `.starts`, "2"}},
		`containers.exists(c, containers[c].starts > 5)`: {{`containers`, `{"tls/app":{"execs":[],"exits":[],"pods":1,"processes":[],"restarts":0,"running":true,"starts":1}}`}},
		`pods["web"].status.phase == "Running" || false`: {{`pods["web"].status.phase`, "no such key: web"}},
		`connections["tls/app"].filter(c, c.first == "x").size() == 1`: {
			{`connections["tls/app"].filter(c, c.first == "x").size()`, "0"}, {`connections["tls/app"].filter(c, c.first == "x")`, "[]"},
		},
		app + `.restarts == 0 == true`: {{app + `.restarts`, "1"}},
		app + `.restarts`:              nil, // it speaks for itself
		`1 +`:                          nil,
	} {
		t.Run(observe, func(t *testing.T) {
			t.Parallel()
			got := parts(t.Context(), newBudget(maxExplained), action.Check{ID: "c", Observe: observe, Is: true, Mode: record.Always, Span: behavior.Duration(time.Minute)}, events)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := parts(t.Context(), newBudget(maxExplained), action.Check{ID: "never-opened", Observe: `true && false`}, events); got != nil {
		t.Errorf("a check that was never looked at has %v", got)
	}
}
