package engine

import (
	"testing"

	"github.com/skewrig/skewrig/reports"
)

func TestACellThatIsNotRedAgain(t *testing.T) {
	t.Parallel()
	const beside = "beside other cells it was not as expected (record: shared/x): wire: new"
	for name, tc := range map[string]struct {
		alone reports.Cell
		want  reports.Outcome
		why   string
	}{
		"passed alone": {
			reports.Cell{Outcome: reports.Pass}, reports.HarnessError,
			"alone, the cell is as expected (record: cells/x); " + beside,
		},
		"broken off alone": {
			reports.Cell{Outcome: reports.Unknown, Unfinished: true, Reason: "broken off: interrupt"}, reports.Unknown,
			"broken off: interrupt, while the cell ran again alone; " + beside,
		},
	} {
		got := unconfirmed(tc.alone, "cells/x", beside)
		if got.Outcome != tc.want || got.Reason != tc.why {
			t.Errorf("%s: %s: %s", name, got.Outcome, got.Reason)
		}
	}
}
