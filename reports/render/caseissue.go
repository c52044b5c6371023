package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
)

// CaseIssue drafts what a check that failed in a cell is reported with, if no list has it: a
// bug report with the evidence of that cell.
func CaseIssue(w io.Writer, r reports.Report, f finding.Finding, c finding.Case) error {
	b := BugReport{Title: c.Headline, Machine: &r}
	b.Happened = section(func(m *markdown) { m.happened(c) })
	b.Expected = section(func(m *markdown) { m.expectation(f) })
	b.Reproduce = section(func(m *markdown) { m.withSkewrig(r, c.Again) })
	b.Background = section(func(m *markdown) {
		for _, k := range c.Related {
			m.kin(c, k)
		}
	})
	b.Version = "What ran, in the order in which it began to:\n\n" + fenced("console", strings.Join(c.Ran, "\n"), "")
	var m markdown
	m.printf("%s", b.Markdown())
	return m.writeTo(w, "the draft of an issue")
}

// happened writes what is known of a case, with its evidence.
func (m *markdown) happened(c finding.Case) {
	if c.Cause != "" {
		m.printf("%s\n", linkedText(c.Cause))
		for i, because := range c.Because {
			m.printf("%s- %s\n", map[bool]string{true: "\n"}[i == 0], linkedText(because))
		}
	} else {
		m.printf("A check of skewrig failed, and nothing more was recorded of it:\n\n%s\n", checkBlock(c))
	}
	m.also(c.Also)
	m.compared(c)
	m.evidence(c)
	if c.Cause != "" {
		m.folded("The check, as skewrig evaluates it", checkBlock(c))
	}
}

// also names the other checks of a cell that fail for the same failure.
func (m *markdown) also(checks []string) {
	names := reports.Each(checks, code)
	if len(names) > 0 {
		m.printf("\nFor the same failure: %s.\n", strings.Join(names, ", "))
	}
}

// checkBlock is a check with its values.
func checkBlock(c finding.Case) string {
	var b strings.Builder
	for _, line := range [][2]string{{"check", c.Check.ID}, {"expected", c.Check.Expected}, {"observed", c.Check.Observed}, {"window", c.Window}, {"reason", c.Check.Reason}} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%-9s %s\n", line[0], line[1])
		}
	}
	return fenced("", strings.TrimRight(b.String(), "\n"), "")
}

// folded is a block that opens on a click.
func (m *markdown) folded(title, block string) {
	m.printf("\n<details><summary>%s</summary>\n\n%s\n\n</details>\n", text(title), block)
}

// evidence writes the exhibits, the first one open.
func (m *markdown) evidence(c finding.Case) {
	for i, e := range c.Exhibits {
		if i == 0 {
			m.printf("\n%s:\n\n%s\n", text(e.Title), fenced("", e.Text, ""))
			continue
		}
		m.folded(e.Title, fenced("", e.Text, ""))
	}
}

// compared says where else the check passes or fails: a table of the cells of the scenario
// with the columns that tell them apart, and the check beside it that passes.
func (m *markdown) compared(c finding.Case) {
	axes := make(map[string]map[string]bool)
	for _, o := range c.Others {
		for axis, value := range o.Axes {
			if axes[axis] == nil {
				axes[axis] = make(map[string]bool)
			}
			axes[axis][value] = true
		}
	}
	columns := slices.DeleteFunc(slices.Sorted(maps.Keys(axes)), func(axis string) bool { return len(axes[axis]) < 2 })
	var rows [][]string
	for _, o := range nearest(c) {
		row := reports.Each(columns, func(axis string) string { return text(o.Axes[axis]) })
		row = append(row, text(seenAs(o.Outcome)))
		if maps.Equal(o.Axes, c.Cell.Axes) {
			row[len(row)-1] = "**deviates** (this cell)"
		}
		rows = withRow(rows, row)
	}
	if len(columns) > 0 && len(rows) > 1 {
		if more := len(rows) - maxSeen; more > 0 {
			rows = append(rows[:maxSeen], append(make([]string, len(columns)), fmt.Sprintf("and %d more", more)))
		}
		m.printf("\n")
		m.table(rows, append(columns, "outcome")...)
	}
	if c.Closest.ID != "" {
		m.printf("\n")
		m.table([][]string{
			{"this check, " + code(c.Check.ID), text(c.Check.Expected), text(c.Check.Observed)},
			{"that check, which passes, " + code(c.Closest.ID), text(c.Closest.Expected), text(c.Closest.Observed)},
		}, "in this cell", "expected", "observed")
	}
}

// nearest are what the check came to in the cells of the scenario, those first that differ
// from the case's in the fewest axes.
func nearest(c finding.Case) []finding.Seen {
	apart := func(o finding.Seen) (n int) {
		for axis, value := range o.Axes {
			if value != c.Cell.Axes[axis] {
				n++
			}
		}
		return n
	}
	return slices.SortedStableFunc(slices.Values(c.Others), func(a, b finding.Seen) int { return apart(a) - apart(b) })
}

func seenAs(o reports.Outcome) string {
	switch {
	case o.Recorded():
		return "deviates, as recorded"
	case o.Nonconforming():
		return "deviates"
	}
	return "as stated"
}

// kin writes a recorded deviation that the check has to do with: its cause, where that is in
// the code, and how to see it without skewrig.
func (m *markdown) kin(c finding.Case, k reports.RelatedDeviation) {
	m.printf("\n%s.\n\nWhat is recorded: %s.\n", text(k.Advice(c.Cell.ID)), text(k.Finding.Instead))
	m.decidedAt(finding.Finding{Finding: k.Finding})
	if k.Finding.Issue != "" {
		m.printf("\nReported: %s\n", linkedText(k.Finding.Issue))
	}
	if script := k.Finding.Script(); script != "" {
		m.folded("How that is seen without skewrig", fenced("sh", script, ""))
	}
}
