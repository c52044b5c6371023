package conformance

import (
	"flag"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/plan"
)

var saved = flag.String("saved", "", "the report directory of a run of the catalog, in which each expectation is changed once")

// TestEachExpectationOfASavedRunCounts does for a saved run, such as one of the
// whole catalog, what the specs do for each cell that they run.
func TestEachExpectationOfASavedRunCounts(t *testing.T) {
	if *saved == "" {
		t.Skip("needs a saved run: -saved=DIR")
	}
	RegisterTestingT(t)
	report, err := app.ReadReport(*saved)
	Expect(err).NotTo(HaveOccurred())
	all, err := catalog.Cells()
	Expect(err).NotTo(HaveOccurred())
	byID := make(map[string]plan.Cell)
	for _, cell := range all {
		byID[cell.ID] = cell
	}
	changes := 0
	for _, cell := range report.Cells {
		Expect(byID).To(HaveKey(cell.ID))
		changes += expectEachCheckCounts(t.Context(), byID[cell.ID], *saved)
	}
	t.Logf("%d expectations of %d cells were changed, and each turned its check red", changes, len(report.Cells))
}
