package app

import (
	"slices"
	"sync"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/own"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// listFor returns what says in which list of known deviations one of a cell is to be
// recorded: the list that the run was given, or that of the cell's catalog.
func listFor(made reports.Reproduce) func(reports.Cell) string {
	const given = "a file that --known-deviations names"
	repository := sync.OnceValue(func() own.Catalog {
		c, _ := ownCatalog(release.Releases{}) // one that can't be read has no cells
		return c
	})
	return func(c reports.Cell) string {
		has := func(cells []plan.Cell) bool {
			return slices.ContainsFunc(cells, func(p plan.Cell) bool { return p.Scenario == c.Scenario })
		}
		ours, _ := builtIn()
		switch named := made.KnownDeviations(); {
		case named != "":
			return named
		case has(ours.BuiltIn):
			return catalog.KnownDeviationsFile + " of skewrig, or " + given
		case !has(repository().Cells):
			return given
		case len(repository().KnownDeviations) > 0:
			return repository().KnownDeviations[0] + ", which skewrig.yaml names"
		}
		return "a file that skewrig.yaml names under knownDeviations"
	}
}
