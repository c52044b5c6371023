package app

import (
	"testing"

	"github.com/skewrig/skewrig/reports"
)

// TestSimulateComparesWithARun checks that the comparison has the checks whose outcome differs from that of
// a run, except for known deviations.
func TestSimulateComparesWithARun(t *testing.T) {
	t.Parallel()
	model := reports.Cell{Checks: []reports.Check{{ID: "a", Outcome: reports.Pass}, {ID: "b", Outcome: reports.Fail}, {ID: "c", Outcome: reports.Pass}}}
	run := reports.Cell{Checks: []reports.Check{{ID: "a", Outcome: reports.Pass}, {ID: "b", Outcome: reports.ExpectedFail}, {ID: "c", Outcome: reports.ExpectedFail}}}
	if got := otherwise(model, run); len(got) != 1 || got["c"] != reports.ExpectedFail {
		t.Errorf("different are %v", got)
	}
}
