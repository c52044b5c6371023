package engine

import (
	"errors"
	"fmt"
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestTheLastCellAnswersForTheEndOfItsCluster: the others are as they ended.
func TestTheLastCellAnswersForTheEndOfItsCluster(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{nil: "  ", errors.New("the network is in use"): "  harness-error"} {
		b := &batch{Engine: &Engine{}, cells: []plan.Cell{{ID: "a"}, {ID: "b"}, {ID: "c"}}, results: make([]reports.Cell, 3)}
		b.settle([]int{0, 1, 2}, err)
		if got := fmt.Sprint(b.results[0].Outcome, " ", b.results[1].Outcome, " ", b.results[2].Outcome); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
