package engine

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// groups returns the places of the cells in the order in which they are begun.
// Cells of one group have the same rig, one after the other. The longest group
// comes first: if it began last, only the user would wait for it.
func groups(cells []plan.Cell) [][]int {
	var all [][]int
	of := make(map[string]int) // the group of those that share a rig
	for i, cell := range cells {
		key, shares := rigKey(cell)
		if g, known := of[key]; shares && known {
			all[g] = append(all[g], i)
			continue
		}
		if shares {
			of[key] = len(all)
		}
		all = append(all, []int{i})
	}
	slices.SortStableFunc(all, func(a, b []int) int { return cmp.Compare(groupEffort(cells, b), groupEffort(cells, a)) })
	return all
}

// groupEffort says how long the cells of a group take, compared with others.
func groupEffort(cells []plan.Cell, group []int) (sum int) {
	for n, i := range group {
		starts, waits := effort(cells[i])
		if n == 0 {
			sum += 2 * starts // the others have its rig
		}
		sum += waits
	}
	return sum
}

// rigKey says which rig a cell can have after another one, which is one of
// the same making. A cell that changes its rig, or creates what can't be told
// from a rig's own, has one of its own.
func rigKey(cell plan.Cell) (key string, shares bool) {
	if cell.Topology.LeaseNodes != nil || cell.Topology.Garden != nil || cell.Topology.Observed != nil {
		return "", false // their objects are not swept
	}
	if cell.Topology.MayEnd != nil {
		return "", false // the next cell may miss a component
	}
	for _, step := range cell.Steps {
		if keeper, is := step.Action.(action.Keeper); !is || !keeper.Keeps(isSwept) {
			return "", false
		}
	}
	made, err := json.Marshal(struct {
		Topology record.Topology
		Images   any
	}{cell.Topology, cell.Images})
	return string(made), err == nil
}

// effort says how long a cell takes, compared with others: by what it starts
// and by what it waits for.
func effort(cell plan.Cell) (starts, waits int) {
	starts = 1 + len(cell.Topology.Nodes)
	for _, step := range cell.Steps {
		switch step.Action.(type) {
		case action.Restart:
			starts++
		case action.Wait, action.Checks:
			waits++
		}
	}
	return starts, waits
}
