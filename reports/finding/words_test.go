package finding

import (
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestFindingsSayWhatWasSeen by the cell that the command runs again: the last one of a
// release, and not of an alpha release.
func TestFindingsSayWhatWasSeen(t *testing.T) {
	t.Parallel()
	cell := func(id string, checks ...reports.Check) reports.Cell {
		return reports.Cell{ID: id, Scenario: "a", Checks: checks}
	}
	check := func(id, finding string, o reports.Outcome) reports.Check {
		return reports.Check{ID: id, Finding: finding, Outcome: o}
	}
	r := reports.Report{
		Cells: []reports.Cell{
			cell("a/v1.89.3", check("first", "late", reports.ExpectedFail)),
			cell("a/v1.90.1", check("first", "late", reports.ExpectedFail), check("second", "late", reports.ExpectedFail), check("new", "", reports.Fail), check("other", "bug", reports.ExpectedFail)),
			cell("a/v1.91.0-alpha.0", check("first", "late", reports.ExpectedFail)),
			cell("a/v1.92.0", check("first", "", reports.Pass), check("lost", "", reports.Fail)),
		},
		Findings: []reports.Finding{{ID: "late"}, {ID: "bug"}},
	}
	all := All(evidence.Run{Report: r}, nil)
	InWords(all, r, func(c reports.Cell) *narrate.Narration {
		if c.ID == "a/v1.92.0" {
			return nil
		}
		return &narrate.Narration{Checks: []narrate.Check{{ID: "first"}, {ID: "second", Cause: "Seen in " + c.ID + "."}, {ID: "new", Cause: "New."}, {ID: "other"}}}
	})
	want := map[string]string{"late": "Seen in a/v1.90.1.", "a.new": "New.", "a.lost": "", "bug": ""}
	for _, f := range all {
		if said, is := want[f.ID]; !is || f.Said != said {
			t.Errorf("%s says %q, want %q", f.ID, f.Said, said)
		}
	}
	if len(all) != len(want) {
		t.Errorf("%d findings, want %d", len(all), len(want))
	}
}

// TestTheSmallestRigShowsAFinding: the last one of those with the fewest components, but no alpha release if
// there is another.
func TestTheSmallestRigShowsAFinding(t *testing.T) {
	t.Parallel()
	facts := make(map[string]evidence.Facts)
	for id, components := range map[string]int{"a/1": 4, "a/2": 3, "a/3": 3, "a/4": 5, "a/5-alpha.0": 1} {
		facts[id] = evidence.Facts{Components: make([]evidence.Component, components)}
	}
	for want, ids := range map[string][]string{
		"a/3":         {"a/1", "a/2", "a/3", "a/4", "a/5-alpha.0"},
		"a/4":         {"a/5-alpha.0", "a/4"},
		"a/5-alpha.0": {"a/5-alpha.0"},
	} {
		var own []redCheck
		for _, id := range ids {
			own = append(own, redCheck{cell: reports.Cell{ID: id}})
		}
		if got := shownOf(own, facts).ID; got != want {
			t.Errorf("of %v, %s shows it, want %s", ids, got, want)
		}
	}
}
