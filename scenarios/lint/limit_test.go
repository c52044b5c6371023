package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestLimited: the expressions of all cells of a file count, each once.
func TestLimited(t *testing.T) {
	t.Parallel()
	cell := func(file, id string) plan.Cell {
		var checks action.Checks
		for i := range 10 {
			checks.Checks = append(checks.Checks, action.Check{ID: fmt.Sprint("c", i), Observe: fmt.Sprintf("%q == %q", id+fmt.Sprint(i), strings.Repeat("x", 1500))})
		}
		return plan.Cell{ID: id, File: file, Text: "x", Steps: []plan.Step{{Number: 1, Action: checks}}}
	}
	same := []plan.Cell{cell("a.yaml", "a"), cell("a.yaml", "a"), cell("a.yaml", "a")}
	if within, err := Limited(same); err != nil || &within[0] != &same[0] {
		t.Errorf("of the same expressions: %d cells, %v", len(within), err)
	}
	within, err := Limited(append(same, cell("b.yaml", "b"), cell("b.yaml", "c"), cell("b.yaml", "d")))
	if len(within) != 3 || err == nil || !strings.HasPrefix(err.Error(), "b.yaml:") || !strings.Contains(err.Error(), "must be at most 32768 bytes") {
		t.Errorf("of different ones: %d cells, %v", len(within), err)
	}
}
