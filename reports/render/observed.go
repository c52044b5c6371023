package render

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
)

// inThisRun writes what the record of a cell has of a finding: what happened, what led to it,
// what passed beside it, how the rig was configured, and what was not run or not real.
func (m *markdown) inThisRun(f finding.Finding) {
	s := f.Shown
	if s.Cell == "" || s.Cause == "" {
		return
	}
	m.printf("\n### Observed\n\nIn the cell %s: %s\n", code(s.Cell), linkedText(s.Cause))
	if len(s.Because) > 0 {
		m.printf("\n")
	}
	for _, because := range s.Because {
		m.printf("- %s\n", linkedText(because))
	}
	if lines := momentLines(s.Led); lines != "" {
		m.printf("\nWhat happened before it, in seconds since the record began:\n\n%s\n", fenced("", lines, ""))
	}
	if len(s.Controls) > 0 {
		m.printf("\nIn the same cell, these checks passed%s:\n\n%s\n", besides(s.More), fenced("", checkLines(s.Controls), ""))
	}
	if len(s.Config) > 0 {
		m.printf("\nConfiguration, as the cell began:\n\n%s\n", fenced("", strings.Join(s.Config, "\n"), ""))
	}
	m.printf("\n%s\n", text(s.Scope()))
	if s.Fake != "" {
		m.printf("\n%s\n", text(s.Fake))
	}
}

// besides says that more checks passed than are shown.
func besides(more int) string {
	if more == 0 {
		return ""
	}
	return ", and " + reports.Counted(more, "other")
}

// checkLines are checks with what they expected and observed.
func checkLines(all []reports.Check) string {
	var lines []string
	for _, c := range all {
		lines = append(lines, c.ID, "  expected  "+oneLine(c.Expected, maxText), "  observed  "+oneLine(c.Observed, maxText))
	}
	return strings.Join(lines, "\n")
}

// momentLines are moments, a line each.
func momentLines(all []finding.Moment) string {
	lines := reports.Each(all, func(l finding.Moment) string { return fmt.Sprintf("%7.3f s  %s", l.At, l.Text) })
	return strings.Join(lines, "\n")
}
