package engine

import (
	"cmp"
	"slices"

	"github.com/skewrig/skewrig/scenarios/plan"
)

// inOrder returns the places of the cells in the order in which they are begun:
// the longest first, since one that begins last is waited for by nobody but the
// user.
func inOrder(cells []plan.Cell) []int {
	order := make([]int, len(cells))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(effort(cells[b]), effort(cells[a])) })
	return order
}

// effort says how long a cell takes, compared with others: by what it starts
// and by what it waits for.
func effort(cell plan.Cell) int {
	starts := 1 + len(cell.Topology.Nodes)
	waits := 0
	for _, step := range cell.Steps {
		switch step.Action.(type) {
		case plan.Restart:
			starts++
		case plan.Wait, plan.Checks:
			waits++
		}
	}
	return 2*starts + waits
}
