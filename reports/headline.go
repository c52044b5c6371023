package reports

import (
	"fmt"
	"slices"
	"strings"
)

// Headline counts what became of the cells of releases. Each cell is in one of the
// counts; Unreported is a part of Recorded.
type Headline struct {
	// Cells is how many there are, without those of the reference.
	Cells int
	// Conform did as expected, Recorded deviate as the known-deviation list says.
	Conform  int
	Recorded int
	// Unreported of those that are Recorded have a deviation that is not reported
	// yet to those who can mend it.
	Unreported int
	// Ambiguous did what one of two readings of a text says.
	Ambiguous int
	// New deviate, and no list says so.
	New int
	// Flaky did as expected in some runs only.
	Flaky int
	// Stale passed although the list says that they fail.
	Stale int
	// NotJudged have no verdict, NotApplicable need none.
	NotJudged     int
	NotApplicable int
	// Reference counts the cells of the reference.
	Reference ReferenceSummary
}

// HeadlineOf counts the cells of a report.
func HeadlineOf(r Report) Headline {
	of := r.Summary.Outcomes
	h := Headline{
		Cells: r.Summary.Cells, Conform: of[Pass], Recorded: of[ExpectedFail], Ambiguous: of[Ambiguous],
		New: of[Fail], Flaky: of[Flaky], Stale: of[UnexpectedPass],
		NotJudged: of[NotTestable] + of[Unknown] + of[HarnessError], NotApplicable: of[NotApplicable],
		Reference: r.Summary.Reference,
	}
	for _, c := range r.Cells {
		if c.Outcome == ExpectedFail && !c.OfReference() && c.unreported(r.Findings) {
			h.Unreported++
		}
	}
	return h
}

// unreported reports whether a recorded deviation of the cell is a finding without
// an issue.
func (c Cell) unreported(findings []Finding) bool {
	return slices.ContainsFunc(c.Checks, func(check Check) bool {
		f := FindingOf(findings, check.Finding)
		return check.Outcome == ExpectedFail && f.ID != "" && f.Issue == ""
	})
}

// String returns the headline in a line: "79 cells: 57 conform, 22 deviate as recorded
// (11 not reported), 0 new". Counts of zero are left out, but for what conforms and what
// is new.
func (h Headline) String() string {
	line := Counted(h.Cells, "cell")
	if h.Cells > 0 {
		line += ": " + strings.Join(h.counts(), ", ")
	}
	if n := h.Reference.Cells; n > 0 {
		line += fmt.Sprintf("; %s: %d as expected, not counted", Counted(n, "reference cell"), h.Reference.Expected)
	}
	return line
}

func (h Headline) counts() (parts []string) {
	unreported := ""
	if h.Unreported > 0 {
		unreported = fmt.Sprintf(" (%d not reported)", h.Unreported)
	}
	for _, count := range []struct {
		n         int
		one, more string
		suffix    string
		always    bool
	}{
		{h.Conform, "conforms", "conform", "", true},
		{h.Recorded, "deviates as recorded", "deviate as recorded", unreported, false},
		{h.Ambiguous, "ambiguous", "ambiguous", "", false},
		{h.New, "new", "new", "", true},
		{h.Flaky, "flaky", "flaky", "", false},
		{h.Stale, "passes although recorded", "pass although recorded", "", false},
		{h.NotJudged, "not judged", "not judged", "", false},
		{h.NotApplicable, "not applicable", "not applicable", "", false},
	} {
		if count.n == 0 && !count.always {
			continue
		}
		text := fmt.Sprintf("%d %s", count.n, count.more)
		if count.n == 1 {
			text = "1 " + count.one
		}
		parts = append(parts, text+count.suffix)
	}
	return parts
}
