package expr_test

import (
	"path/filepath"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/expr"
)

// TestTheCatalogIsFarBelowTheBudget: an evaluation of any check of the catalog, on the saved
// records of the docs, costs less than a thousandth of what one may, and the expressions are
// less than a tenth of what the compiler takes.
func TestTheCatalogIsFarBelowTheBudget(t *testing.T) {
	t.Parallel()
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	saved, err := filepath.Glob("../../docs/examples/report/cells/*/*/*/" + reports.HistoryFile)
	if err != nil || len(saved) == 0 {
		t.Fatal(saved, err)
	}
	once, longest := 0, 0
	for _, file := range append(saved, "../../app/testdata/readiness/"+reports.HistoryFile) {
		events, err := record.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range cells {
			most, length := expr.Costs(t, cell, events)
			once, longest = max(once, most), max(longest, length)
		}
	}
	t.Logf("most costly evaluation: %d of %d; longest expression: %d of %d bytes", once, expr.MaxOnce, longest, expr.MaxText)
	if once > expr.MaxOnce/1000 || longest > expr.MaxText/10 {
		t.Errorf("an evaluation costs %d, the longest expression has %d bytes", once, longest)
	}
}
