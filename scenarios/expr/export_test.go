package expr

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
	now := Vars(timeline.Of(events))
	Each(cell, func(_ int, e Written, it string) {
		longest = max(longest, len(e.Text))
		if it != "" {
			return // it sees a value
		}
		p, _, err := Compile(e.Text)
		if err != nil {
			t.Fatal(err)
		}
		b := NewBudget(MaxCost)
		_, _ = b.Eval(t.Context(), e.what, p, now)
		most = max(most, b.used)
	})
	return most, longest
}
