package criteria

import (
	"slices"
	"testing"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/ledger"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestPlannedCellsOfTheCatalog checks that cells of the reference kubelet are not eligible,
// and that a cell has the requirements of its checks.
func TestPlannedCellsOfTheCatalog(t *testing.T) {
	t.Parallel()
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	cells, err = plan.Match(cells, []string{"kep-4188/gate/toggled/**"})
	if err != nil {
		t.Fatal(err)
	}
	planned := Planned(cells)
	if len(planned) != 3 || !slices.Contains(planned[0].Requirements, "KEP-4188/gate/off") {
		t.Fatalf("%+v", planned)
	}
	eligible := evidence.Eligible(planned, evidence.Subject{Components: []string{"kubelet"}, Since: "v1.36"})
	if len(eligible) != 1 || eligible[0].Axes["kubelet"] != string(release.Newest) {
		t.Errorf("eligible are %+v", eligible)
	}
}

// TestContradictionsAreObserved: of two statements that no release can both satisfy, a
// cell has checks of both. Otherwise nothing shows which of them a release does.
func TestContradictionsAreObserved(t *testing.T) {
	t.Parallel()
	requirements, err := ledger.Requirements()
	if err != nil {
		t.Fatal(err)
	}
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	planned, pairs := Planned(cells), 0
	for _, q := range requirements {
		for _, other := range q.Contradicts {
			pairs++
			if !slices.ContainsFunc(planned, func(p evidence.Planned) bool {
				return slices.Contains(p.Requirements, q.ID) && slices.Contains(p.Requirements, other)
			}) {
				t.Errorf("no cell has checks of %s and of %s", q.ID, other)
			}
		}
	}
	if pairs == 0 {
		t.Error("no statement contradicts another: this test proves nothing")
	}
}
