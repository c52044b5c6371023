package lint

import (
	"slices"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// maxExpressions bounds the different expressions of the cells of a file together, in bytes: each may take the compiler a
// second for maxText.
const maxExpressions = 32 << 10

// Limited returns the cells of files whose expressions are not too many, and reports the others.
func Limited(cells []plan.Cell) ([]plan.Cell, error) {
	var problems []error
	var refused []string
	of := make(map[string]map[string]bool) // texts by file
	bytes := make(map[string]int)
	for _, cell := range cells {
		if of[cell.File] == nil {
			of[cell.File] = make(map[string]bool)
		}
		expr.Each(cell, func(_ int, e expr.Written, _ string) {
			if of[cell.File][e.Text] || bytes[cell.File] > maxExpressions {
				return
			}
			of[cell.File][e.Text] = true
			if bytes[cell.File] += len(e.Text); bytes[cell.File] > maxExpressions {
				refused = append(refused, cell.File)
				problems = append(problems, e.Errorf(0, "too many expressions: those of all cells of a file must be at most %d bytes together; make several scenarios of it", maxExpressions))
			}
		})
	}
	if len(refused) == 0 {
		return cells, nil
	}
	within := slices.DeleteFunc(slices.Clone(cells), func(c plan.Cell) bool { return slices.Contains(refused, c.File) })
	return within, strict.Join(problems...)
}
