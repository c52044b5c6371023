package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestACellThatCannotRun is not testable, with the reason, and nothing is built for it.
func TestACellThatCannotRun(t *testing.T) {
	t.Parallel()
	all, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	var cells []plan.Cell
	for _, cell := range plan.OnRuntime(all, record.Containerd) {
		if plan.Untestable(cell) != "" && len(cells) < 2 {
			cells = append(cells, cell)
		}
	}
	e := &Engine{Dir: t.TempDir(), Binary: func(context.Context, build.Target) (build.Binary, error) {
		t.Error("something is built")
		return build.Binary{}, errors.New("nothing is to be built")
	}}
	results, err := e.Run(t.Context(), cells)
	if err != nil || len(results) != 2 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for i, r := range results {
		if r.ID != cells[i].ID || r.Outcome != reports.NotTestable || r.Reason != plan.Untestable(cells[i]) {
			t.Errorf("%s is %s: %s", r.ID, r.Outcome, r.Reason)
		}
		for _, c := range r.Checks {
			if c.Outcome != reports.NotTestable {
				t.Errorf("check %s of %s is %s", c.ID, r.ID, c.Outcome)
			}
		}
	}
}
