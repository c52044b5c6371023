package lint

import (
	"testing"

	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// FuzzRulesOverBrokenExpressions: Compile reports what is wrong with an expression, and
// the rules go past it.
func FuzzRulesOverBrokenExpressions(f *testing.F) {
	for _, expression := range []string{
		`connections["payments/app"].exists(c)`, `connections["payments/app"].exists()`, `all()`, `exists(a, b)`, `1.all(2, 3)`,
		`connections["payments/app"].filter(x).size() > 1`, `size() > 1`, `size(a, b) > 1`, `a.size(b) > 1`, `first()`, `last(a)[0].kind`,
		`flatten(a)`, `objects.map().size()`, `map(a, b)[0] == ""`, `filter(a, b) == []`, `it.filter()`, `sortBy(a)`, `value() == "Pod"`,
		`[].sort().distinct().map(a, b, c, d)`, `slice(1, 2)`, `orValue(a)`, `startsWith("a")`, `a.exists(b.c, d)`, `a.?b`, `a[?0]`, `(`, ``,
		`components["etcd"].exits.size() == 0`, `objects.exists(k, k.startsWith("jobs/"))`, `{"a": size()}.a`, `[all()]`,
	} {
		f.Add(expression, expression)
	}
	f.Fuzz(func(_ *testing.T, observe, must string) {
		for _, is := range []any{true, 0, []any{true}} {
			cell := playground(observe, must)
			cell.Steps[2].Action = action.Stop{}
			check := cell.Steps[3].Action.(action.Checks).Checks
			check[0].Is = is
			for _, must := range []string{"", must} {
				check[0].Must = must
				_ = Refuse([]plan.Cell{cell})
				_ = Undeclared([]plan.Cell{cell})
				_ = MissingFields([]plan.Cell{cell})
				_, _ = Needs(cell)
			}
		}
	})
}
