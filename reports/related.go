package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports/cellid"
)

// RelatedDeviation is a recorded deviation that a check which is not on the list has to do with: the
// same check deviates so in other cells, or one of the same requirement does.
type RelatedDeviation struct {
	Finding Finding
	// SameCheck is true if it is recorded of the same check. Otherwise it is of the same
	// requirement only.
	SameCheck bool
	// Cells are the ids of those in which it was seen. If unset, it is on the list, and
	// was seen in none.
	Cells []string
}

// RelatedDeviations returns the recorded deviations that a check of a cell has to do with: those of the
// same check, or if there are none, those of the same requirement.
func (r Report) RelatedDeviations(c Cell, check Check) []RelatedDeviation {
	if !check.Outcome.Nonconforming() || check.Finding != "" {
		return nil
	}
	var same, related []RelatedDeviation
	if f := FindingOf(r.Findings, check.Like); f.ID != "" {
		same = append(same, RelatedDeviation{Finding: f, SameCheck: true})
	}
	for _, other := range r.Cells {
		for _, k := range other.Checks {
			if c.Scenario == "" || other.ID == c.ID || k.Finding == "" || !k.Outcome.Recorded() {
				continue
			}
			f := FindingOf(r.Findings, k.Finding)
			switch {
			case f.ID == "":
			case other.Scenario == c.Scenario && k.ID == check.ID:
				same = seenIn(same, f, true, other.ID)
			case k.Requirement != "" && k.Requirement == check.Requirement:
				related = seenIn(related, f, false, other.ID)
			}
		}
	}
	if len(same) > 0 {
		return same
	}
	return related
}

func seenIn(all []RelatedDeviation, f Finding, sameCheck bool, cell string) []RelatedDeviation {
	i := slices.IndexFunc(all, func(k RelatedDeviation) bool { return k.Finding.ID == f.ID })
	if i < 0 {
		return append(all, RelatedDeviation{f, sameCheck, []string{cell}})
	}
	if !slices.Contains(all[i].Cells, cell) {
		all[i].Cells = append(all[i].Cells, cell)
	}
	return all
}

// PassesIn returns the ids of the other cells of a scenario in which a check passes.
func (r Report) PassesIn(c Cell, check Check) (ids []string) {
	for _, other := range r.Cells {
		passes := func(k Check) bool { return k.ID == check.ID && k.Outcome == Pass }
		if c.Scenario != "" && other.ID != c.ID && other.Scenario == c.Scenario && slices.ContainsFunc(other.Checks, passes) {
			ids = append(ids, other.ID)
		}
	}
	return ids
}

// maxApart is how many other cells a sentence tells apart.
const maxApart = 4

// Advice returns a sentence on what the deviation has to do with a check of a cell.
func (k RelatedDeviation) Advice(cell string) string {
	what := "another check of the same requirement deviates so"
	if k.SameCheck {
		what = "the same check deviates so"
	}
	where := "in other cells"
	if len(k.Cells) > 0 {
		where = "with " + DifferingAxes(cell, k.Cells)
	}
	return fmt.Sprintf("If this is the recorded deviation “%s”, add this cell to its entry %s in the list of known deviations; otherwise report this (%s %s)", k.Finding.Headline, k.Finding.ID, what, where)
}

// PassesElsewhere returns a sentence on the other cells in which a check passes. It is empty if there
// are none.
func PassesElsewhere(cell string, others []string) string {
	if len(others) == 0 {
		return ""
	}
	return "The same check passes with " + DifferingAxes(cell, others)
}

// DifferingAxes names other cells by the axes in which they are not all as a cell, a few of them:
// "kubelet v1.90.1, kubelet reference". Cells of another scenario are named by that.
func DifferingAxes(cell string, others []string) string {
	own, ownAxes := cellid.Trunk(cell), cellid.Axes(cell)
	differing := make(map[string]bool)
	for _, id := range others {
		for axis, value := range cellid.Axes(id) {
			differing[axis] = differing[axis] || value != ownAxes[axis]
		}
	}
	var names []string
	// The nearest ones come first.
	distance := func(id string) (n int) {
		for axis, value := range cellid.Axes(id) {
			if value != ownAxes[axis] {
				n++
			}
		}
		return n
	}
	others = slices.SortedStableFunc(slices.Values(others), func(a, b string) int { return distance(a) - distance(b) })
	for _, id := range others {
		var apart []string
		if trunk := cellid.Trunk(id); trunk != own {
			apart = append(apart, trunk)
		}
		values := cellid.Axes(id)
		for _, axis := range slices.Sorted(maps.Keys(values)) {
			if differing[axis] {
				apart = append(apart, axis+" "+values[axis])
			}
		}
		if name := strings.Join(apart, " "); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return Few(names, maxApart)
}
