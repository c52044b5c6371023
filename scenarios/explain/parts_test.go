package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestParts: what was false is explained by what it is made of, as it was when the check
// was decided.
func TestParts(t *testing.T) {
	t.Parallel()
	events := endedOnce()
	app := `containers["tls/app"]`
	for observe, want := range map[string][]narrate.Line{
		app + `.restarts == 0 && ` + app + `.running`:    {{What: app + `.restarts`, Text: "0"}, {What: app + `.running`, Text: "false"}}, // it ends, and is not there again yet
		`!(` + app + `.restarts > ` + app + `.starts)`:   {{What: app + `.restarts`, Text: "1"}, {What: app + `.starts`, Text: "2"}},
		`containers.exists(c, containers[c].starts > 5)`: {{What: `containers`, Text: `{"tls/app":{"execs":[],"exits":[],"pods":1,"processes":[],"restarts":0,"running":true,"starts":1}}`}},
		`pods["web"].status.phase == "Running" || false`: {{What: `pods["web"].status.phase`, Text: "no such key: web"}},
		`connections["tls/app"].filter(c, c.first == "x").size() == 1`: {
			{What: `connections["tls/app"].filter(c, c.first == "x").size()`, Text: "0"}, {What: `connections["tls/app"].filter(c, c.first == "x")`, Text: "[]"},
		},
		app + `.restarts == 0 == true`: {{What: app + `.restarts`, Text: "1"}},
		app + `.restarts`:              nil, // it speaks for itself
		`1 +`:                          nil,
	} {
		t.Run(observe, func(t *testing.T) {
			t.Parallel()
			got := explained(t, failed("c", observe), events).Parts["c"]
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := explained(t, failed("never-opened", `true && false`), events).Parts["never-opened"]; got != nil {
		t.Errorf("a check that was never looked at has %v", got)
	}
}

// failed is a result with one check that was to be true.
func failed(id, observe string) reports.Cell {
	return reports.Cell{Checks: []reports.Check{{ID: id, Outcome: reports.Fail, Expected: "always for 1m0s: " + observe + " == true", Observed: "false"}}}
}
