package page_test

import (
	"slices"
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/reports/page"
)

// redAs is the small run with the red cell and its narration changed.
func redAs(changeCell func(*reports.Cell), change func(*narrate.Narration)) page.Run {
	run := small()
	at := slices.IndexFunc(run.Report.Cells, func(c reports.Cell) bool { return c.ID == page.Red })
	changeCell(&run.Report.Cells[at])
	run.Narration = func(c reports.Cell, of reports.Run, limit int) (*narrate.Narration, error) {
		n, err := page.MadeNarration(c, of, limit)
		if err == nil && c.ID == page.Red {
			change(n)
		}
		return n, err
	}
	return run
}

// TestChecksOfOneFailureAreOne on the first screen, in the red box and in the draft, with the
// names of both.
func TestChecksOfOneFailureAreOne(t *testing.T) {
	run := redAs(func(c *reports.Cell) { c.Checks[1].Outcome = reports.Fail }, func(n *narrate.Narration) { n.Checks[1].Same = n.Checks[0].ID })
	b := newTab(t, 1280)
	file := written(t, run)
	b.open(file, "")
	if n := eval[int](b, "document.querySelector('#overview .needs').querySelectorAll('.check').length"); n != 1 {
		t.Errorf("the first screen has %d checks for one failure", n)
	}
	b.has("#overview .needs", "For the same failure: one-pod")
	b.open(file, red)
	if n := len(b.texts("#cell .causes > .cause-of")); n != 1 {
		t.Errorf("the cell has %d boxes for one failure", n)
	}
	b.has("#cell .cause-of h2", "restarts-end and one-pod")
	b.has("#cell .causes", "These 2 checks fail for one failure.")
	b.has("#cell .causes", "An upgrade leaves other containers alone.")
	b.click("#cell .causes .preview summary")
	b.until("document.querySelector('#cell .causes .draft').textContent.includes('For the same failure: `one-pod`.')")
	b.quiet()
}
