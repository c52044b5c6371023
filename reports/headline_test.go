package reports

import "testing"

func TestHeadline(t *testing.T) {
	t.Parallel()
	findings := []Finding{{ID: "unreported"}, {ID: "reported", Issue: "https://github.com/kubernetes/kubernetes/issues/1"}}
	cell := func(outcome Outcome, finding string) Cell {
		return Cell{Outcome: outcome, Checks: []Check{{ID: "stays", Outcome: outcome, Finding: finding}}}
	}
	reference := func(outcome Outcome) Cell {
		c := cell(outcome, "unreported")
		c.Reference = true
		return c
	}
	for _, tc := range []struct {
		cells []Cell
		want  string
	}{
		{nil, "0 cells"},
		{[]Cell{cell(Pass, "")}, "1 cell: 1 conforms, 0 new"},
		{[]Cell{cell(Fail, "")}, "1 cell: 0 conform, 1 new"},
		{[]Cell{cell(Pass, ""), cell(Pass, ""), cell(ExpectedFail, "reported"), cell(ExpectedFail, "unreported")},
			"4 cells: 2 conform, 2 deviate as recorded (1 not reported), 0 new"},
		// A user's own entry has a link, and is no finding.
		{[]Cell{cell(ExpectedFail, "")}, "1 cell: 0 conform, 1 deviates as recorded, 0 new"},
		// An ambiguous text is no deviation of a release.
		{[]Cell{cell(Ambiguous, "unreported"), cell(ExpectedFail, "unreported")},
			"2 cells: 0 conform, 1 deviates as recorded (1 not reported), 1 ambiguous, 0 new"},
		{[]Cell{cell(UnexpectedPass, ""), cell(Flaky, ""), cell(Unknown, ""), cell(HarnessError, ""), cell(NotTestable, ""), cell(NotApplicable, "")},
			"6 cells: 0 conform, 0 new, 1 flaky, 1 passes although recorded, 3 not judged, 1 not applicable"},
		{[]Cell{cell(Pass, ""), reference(ExpectedFail), reference(Fail)},
			"1 cell: 1 conforms, 0 new; 2 reference cells: 1 as expected, not counted"},
	} {
		r := Report{Cells: tc.cells, Summary: Summarize(tc.cells), Findings: findings}
		if got := HeadlineOf(r).String(); got != tc.want {
			t.Errorf("headline %q, want %q", got, tc.want)
		}
	}
}

// TestEachOutcomeIsCounted: no cell is left out of a headline.
func TestEachOutcomeIsCounted(t *testing.T) {
	t.Parallel()
	for _, o := range Outcomes() {
		cells := []Cell{{Outcome: o}}
		h := HeadlineOf(Report{Cells: cells, Summary: Summarize(cells)})
		if n := h.Conform + h.Recorded + h.Ambiguous + h.New + h.Flaky + h.Stale + h.NotJudged + h.NotApplicable; n != 1 {
			t.Errorf("%s is in %d counts", o, n)
		}
	}
}
