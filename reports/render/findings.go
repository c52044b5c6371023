package render

import (
	"io"

	"github.com/skewrig/skewrig/reports"
)

// Findings writes, as Markdown, every deviation of a release from a ledger: the
// requirement, what was expected and observed on which releases, and the command
// that reproduces it. Known deviations and new failures are both findings.
func Findings(w io.Writer, r reports.Report) error {
	var m markdown
	m.printf("# Findings\n\nDeviations of releases from what their KEP or documentation says, with evidence. These components ran:\n\n")
	for _, c := range r.Reproduce.Components {
		m.printf("- %s %s\n", code(c.Name), code(c.Version))
	}
	found := 0
	for _, q := range r.Requirements {
		found += m.finding(q, r.Cells)
	}
	if found == 0 {
		m.printf("\nNone.\n")
	}
	return m.writeTo(w, "the findings")
}

// finding writes the findings of one requirement, and returns how many checks
// deviate.
func (m *markdown) finding(q reports.Requirement, cells []reports.Cell) int {
	count := 0
	for _, c := range cells {
		for _, check := range c.Checks {
			if check.Requirement != q.ID || check.Outcome != reports.Fail && check.Outcome != reports.ExpectedFail {
				continue
			}
			if count++; count == 1 {
				m.printf("\n## %s\n\n%s\n(%s)\n", code(q.ID), text(q.Statement), link(q.Source, q.Source))
				if q.Beyond != "" {
					m.printf("\nNo sentence of that text says this. It is from %s.\n", text(q.Beyond))
				}
			}
			m.printf("\n- %s, check %s: %s\n", code(c.ID), code(check.ID), check.Outcome)
			m.printf("  - expected: %s\n  - observed: %s\n", text(check.Expected), text(check.Observed))
			if check.Reason != "" {
				m.printf("  - %s\n", text(check.Reason))
			}
			m.printf("  - reproduce: %s\n", code("skewrig run "+c.ID))
		}
	}
	return count
}
