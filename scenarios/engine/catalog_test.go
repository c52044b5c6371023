package engine

import (
	"context"
	"slices"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/ledger"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/images"
)

func catalogCells(t *testing.T) []plan.Cell {
	t.Helper()
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// nothingBuilt stands in for a builder.
func nothingBuilt(_ context.Context, t build.Target) (build.Binary, error) {
	return build.Binary{Component: t.Component, Version: t.Version}, nil
}

func TestTheCatalogCompiles(t *testing.T) {
	t.Parallel()
	cells := catalogCells(t)
	if _, err := Compile(cells); err != nil {
		t.Error(err)
	}
	if err := UnknownFields(cells); err != nil {
		t.Error(err)
	}
	for _, cell := range cells {
		if _, err := images.Library(t.Context(), cell.Images, nothingBuilt); err != nil {
			t.Errorf("%s: %v", cell.ID, err)
		}
	}
}

// TestTheLedgerAndTheCatalogAgree: every check serves a statement, and every
// statement is served by a check or says why it is not.
func TestTheLedgerAndTheCatalogAgree(t *testing.T) {
	t.Parallel()
	requirements, err := ledger.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	var stated, served []string
	for _, r := range requirements {
		stated = append(stated, r.ID)
	}
	for _, cell := range catalogCells(t) {
		if cell.Compare != nil {
			served = append(served, cell.Compare.Requirement)
		}
		for _, step := range cell.Steps {
			checks, _ := step.Action.(action.Checks)
			for _, c := range checks.Checks {
				served = append(served, c.Requirement)
				if !slices.Contains(stated, c.Requirement) {
					t.Errorf("%s: check %s serves %s, which no ledger states", cell.ID, c.ID, c.Requirement)
				}
			}
		}
	}
	for _, r := range requirements {
		if r.KEP == "ORACLE" {
			continue // see package oracle
		}
		explained := r.Excluded != "" || r.Manual != ""
		if slices.Contains(served, r.ID) == explained {
			t.Errorf("%s: served by a check is %t, excluded or manual is %t; it must be one of them", r.ID, !explained, explained)
		}
	}
}

// TestEveryScenarioHasANegativeControl: what a scenario shows must go the other
// way in another one, which is part of the catalog too.
func TestEveryScenarioHasANegativeControl(t *testing.T) {
	t.Parallel()
	cells := catalogCells(t)
	scenarios := make(map[string]bool)
	for _, cell := range cells {
		scenarios[cell.Scenario] = true
	}
	for _, cell := range cells {
		if !scenarios[cell.Control] || cell.Control == cell.Scenario {
			t.Errorf("%s has the negative control %q", cell.ID, cell.Control)
		}
	}
}
