package criteria

import (
	"slices"

	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Planned are cells that can be run, as evidence that there could be.
func Planned(cells []plan.Cell) []evidence.Planned {
	var all []evidence.Planned
	for _, c := range cells {
		if c.Unfit != "" {
			continue
		}
		p := evidence.Planned{ID: c.ID, Scenario: c.Scenario, Axes: c.Axes}
		for _, t := range plan.Targets([]plan.Cell{c}) {
			p.Facts.Components = append(p.Facts.Components, evidence.Component{
				Name: t.Component, Starts: []evidence.Start{{Version: string(t.Version)}},
			})
		}
		p.Requirements = served(c)
		all = append(all, p)
	}
	return all
}

// served are the statements that a cell's checks serve, sorted.
func served(c plan.Cell) []string {
	var ids []string
	for _, step := range c.Steps {
		for _, check := range step.Checks() {
			ids = append(ids, check.Requirement)
		}
	}
	if c.Compare != nil {
		ids = append(ids, c.Compare.Requirement)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
