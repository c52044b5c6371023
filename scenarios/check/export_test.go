package check

import (
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// MaxOnce and MaxText are the limits of an evaluation and of an expression.
const (
	MaxOnce = maxOnce
	MaxText = maxText
)

// Costs returns what the most costly evaluation of an expression of a cell on a record costs,
// and how long the longest expression is.
func Costs(t *testing.T, cell plan.Cell, events []record.Event) (most, longest int) {
	t.Helper()
	now := vars(timeline.Of(events))
	expressions(cell, func(_ int, e written, it string) {
		longest = max(longest, len(e.text))
		if it != "" {
			return // it sees a value
		}
		p, _, err := compile(e.text)
		if err != nil {
			t.Fatal(err)
		}
		b := newBudget(maxCost)
		_, _ = b.eval(t.Context(), e.what, p, now)
		most = max(most, b.used)
	})
	return most, longest
}
