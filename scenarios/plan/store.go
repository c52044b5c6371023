package plan

import (
	"encoding/json"
	"fmt"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
)

// Stored is a cell's plan in the form in which a run stores it.
func Stored(c Cell) (record.Plan, error) {
	p := record.Plan{
		Format: record.PlanFormat,
		ID:     c.ID, Scenario: c.Scenario, Area: c.Area, Title: c.Title, Control: c.Control, Axes: c.Axes,
		File: c.File, Text: c.Text, Topology: c.Topology, Images: c.Images,
	}
	printer := newPrinter(c.Topology)
	for _, s := range c.Steps {
		stored, err := s.Stored()
		stored.Changes = printer.changes(s)
		if err != nil {
			return p, fmt.Errorf("storing step %d of %s: %w", s.Number, c.ID, err)
		}
		p.Steps = append(p.Steps, stored)
	}
	return p, nil
}

// Stored is the step in the form in which a run stores it.
func (s Step) Stored() (record.Step, error) {
	stored := record.Step{
		Number: s.Number, Name: s.Name, Line: s.Line, Run: s.Run, Via: s.Via, Refusable: s.Refusable, Kind: s.Kind,
		Description: s.Action.Describe(), Components: s.Components,
	}
	for _, c := range s.Checks() {
		c.Description = c.Describe()
		stored.Checks = append(stored.Checks, record.Check(c))
	}
	if _, only := s.Action.(action.Checks); only {
		return stored, nil
	}
	var err error
	stored.Action, err = json.Marshal(s.Action)
	return stored, err
}
