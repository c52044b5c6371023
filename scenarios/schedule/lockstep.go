package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// lockstep returns the groups of the cells that change a control plane. Cells that make the same changes to the same
// control plane share one, and so do cells that make only the first of these changes. A group has at most so many cells.
func lockstep(cells []plan.Cell, changing []int, most int) (all []Group) {
	type member struct {
		at      int
		key     string
		changes []string
		inStep  bool
	}
	var members []member
	for _, i := range changing {
		m := member{at: i}
		m.key, _ = shares(cells[i])
		m.changes, m.inStep = changesOf(cells[i])
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.key, b.key), slices.Compare(a.changes, b.changes), cmp.Compare(cells[a.at].ID, cells[b.at].ID))
	})
	var last member
	for _, m := range members {
		joins := last.inStep && m.inStep && last.key == m.key && len(all[len(all)-1].InStep) < most &&
			len(last.changes) <= len(m.changes) && slices.Equal(last.changes, m.changes[:len(last.changes)])
		if joins {
			all[len(all)-1].InStep = append(all[len(all)-1].InStep, m.at)
		} else {
			all = append(all, Group{Key: m.key, InStep: []int{m.at}})
		}
		last = m
	}
	return all
}

// changesOf returns how a cell changes its control plane, and whether other cells may make these changes in step with it:
// without them, the cell could run beside others, and each is made at its place.
func changesOf(cell plan.Cell) (changes []string, inStep bool) {
	inStep = true
	without := cell
	without.Steps = nil
	for _, step := range cell.Steps {
		if action.ReachOf(step.Action) != action.ReachChanges {
			without.Steps = append(without.Steps, step)
			continue
		}
		changes = append(changes, fmt.Sprintf("%T %s", step.Action, step.Action.Describe()))
		for _, restart := range step.Action.Facts().Restarts {
			changes = append(changes, restart.Describe())
		}
		inStep = inStep && step.Run == "" && len(step.Checks()) == 0 // of how a component ends
	}
	_, reach := shares(without)
	return changes, inStep && reach == action.ReachOwn
}
