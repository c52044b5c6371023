package finding

import (
	"cmp"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/narrate"
)

// InWords has each finding say what its checks saw, as far as the narration of a cell that
// shows it does. A narration is nil if nothing was recorded of the cell.
func InWords(all []Finding, r reports.Report, narration func(reports.Cell) *narrate.Narration) {
	red := redChecks(r)
	for i, f := range all {
		own := reports.Only(red, func(s redCheck) bool { return s.cell.ID == f.ShownIn && f.has(s) })
		if len(own) == 0 {
			continue
		}
		n := narration(own[0].cell)
		if n == nil {
			continue
		}
		for _, s := range own {
			all[i].Said = cmp.Or(all[i].Said, causeOf(n, s.check.ID))
			if all[i].Shown.Cell == "" || all[i].Shown.Cause == "" {
				all[i].Shown = shownBy(n, s, f)
			}
		}
	}
}

// has reports whether a check that deviates is of the finding.
func (f Finding) has(s redCheck) bool {
	if f.Class == reports.Unlisted {
		return s.check.Finding == "" && unlisted(s).ID == f.ID
	}
	return s.check.Finding == f.ID
}

// shownOf is the cell that shows a finding best: of a release, on the rig with the fewest components, the last one.
func shownOf(own []redCheck, facts map[string]evidence.Facts) (shown reports.Cell) {
	isAlpha := func(c reports.Cell) bool { return strings.Contains(c.ID, "-alpha.") }
	size := func(c reports.Cell) int { return len(facts[c.ID].Components) }
	for _, s := range own {
		if shown.ID == "" || isAlpha(shown) || !isAlpha(s.cell) && size(s.cell) <= size(shown) {
			shown = s.cell
		}
	}
	return shown
}

// causeOf is why a check does not hold, in a sentence; empty if that is not known.
func causeOf(n *narrate.Narration, check string) string {
	for _, c := range n.Checks {
		if c.ID == check {
			return c.Cause
		}
	}
	return ""
}
