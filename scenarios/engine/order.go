package engine

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/skewrig/skewrig/scenarios/plan"
)

// groups returns the places of the cells in the order in which they are begun.
// Cells of one group have the same rig, one after the other. The longest group
// comes first: one that begins last is waited for by nobody but the user.
func groups(cells []plan.Cell) [][]int {
	var all [][]int
	of := make(map[string]int) // the group of those that share a rig
	for i, cell := range cells {
		key, shares := sharedRig(cell)
		if g, known := of[key]; shares && known {
			all[g] = append(all[g], i)
			continue
		}
		if shares {
			of[key] = len(all)
		}
		all = append(all, []int{i})
	}
	total := func(group []int) (sum int) {
		for _, i := range group {
			sum += effort(cells[i])
		}
		return sum
	}
	slices.SortStableFunc(all, func(a, b []int) int { return cmp.Compare(total(b), total(a)) })
	return all
}

// sharedRig says which rig a cell can have after another one, which is one of
// the same making. A cell that changes its rig, or creates what can't be told
// from a rig's own, has one of its own.
func sharedRig(cell plan.Cell) (key string, shares bool) {
	for _, step := range cell.Steps {
		switch action := step.Action.(type) {
		case plan.Apply:
			if slices.ContainsFunc(action.Objects, func(o map[string]any) bool { return !slices.Contains(swept, o["kind"]) }) {
				return "", false
			}
		case plan.Patch, plan.Delete, plan.Wait, plan.Checks:
		default:
			return "", false
		}
	}
	made, err := json.Marshal(struct {
		Topology plan.Topology
		Images   any
	}{cell.Topology, cell.Images})
	return string(made), err == nil
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
