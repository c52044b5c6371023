package page_test

import (
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/page"
)

// TestAPersonComparesTwoChecks: the one that fails is beside the one that is most like it, on
// the first screen and on the page of the cell, also on a phone.
func TestAPersonComparesTwoChecks(t *testing.T) {
	run := small()
	for i := range run.Report.Cells {
		if c := &run.Report.Cells[i]; c.ID == page.Red {
			c.Checks = append(c.Checks, reports.Check{ID: "restarts-end-elsewhere", Requirement: "KEP-1/upgrade/takes-effect", Outcome: reports.Pass, Expected: "within 5s: elsewhere.size() == 7", Observed: "7"})
		}
	}
	file := written(t, run)
	for _, width := range []int64{1280, 390} {
		b := newTab(t, width)
		b.open(file, "")
		b.has("#overview .needs table", "elsewhere.size() == 7")
		b.shot("twins-first")
		b.open(file, red)
		b.has("#cell .causes table", "this check restarts-end")
		b.has("#cell .causes table", "that check, which passes restarts-end-elsewhere")
		b.has("#cell .causes table", "elsewhere.size() == 7")
		if eval[bool](b, "document.documentElement.scrollWidth > innerWidth") {
			t.Errorf("at a width of %d, the page is wider", width)
		}
		b.shot("twins")
		b.quiet()
	}
}
