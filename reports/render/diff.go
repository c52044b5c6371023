package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
)

// diffTitles are what the sections of a diff are called, one entry and several.
var diffTitles = map[diff.Section][2]string{
	diff.SubjectSection:      {"difference between the subjects", "differences between the subjects"},
	diff.RegressionsSection:  {"regression", "regressions"},
	diff.FixesSection:        {"fix", "fixes"},
	diff.ChangedSection:      {"other change", "other changes"},
	diff.NewSection:          {"new cell", "new cells"},
	diff.GoneSection:         {"cell gone", "cells gone"},
	diff.RequirementsSection: {"requirement with another outcome", "requirements with another outcome"},
	diff.SlowerSection:       {"slower cell", "slower cells"},
}

func counted(d diff.Diff, s diff.Section) string {
	n := d.Count(s)
	title := diffTitles[s][1]
	if n == 1 {
		title = diffTitles[s][0]
	}
	return fmt.Sprintf("%d %s", n, title)
}

func diffVerdict(d diff.Diff) string {
	var parts []string
	for _, s := range diff.Sections() {
		if d.Count(s) > 0 {
			parts = append(parts, counted(d, s))
		}
	}
	if len(parts) == 0 {
		return "nothing changed"
	}
	return strings.Join(parts, ", ")
}

// DiffTerminal writes a diff for people at a terminal. No text of a report can
// control the terminal.
func DiffTerminal(w io.Writer, d diff.Diff, options TerminalOptions) error {
	t := diffTerminal{terminal{color: options.Color, width: options.Width}}
	t.line("", fmt.Sprintf("From %s to %s", oneLine(d.From, maxText), oneLine(d.To, maxText)))
	t.subject(d.Subject)
	t.section(d, diff.RegressionsSection, func() { t.changes(d.Regressions, d.Problems.New) })
	t.section(d, diff.FixesSection, func() { t.changes(d.Fixes, d.Problems.Gone) })
	t.section(d, diff.ChangedSection, func() { t.changes(d.Changed, nil) })
	t.section(d, diff.NewSection, func() { t.states(d.New) })
	t.section(d, diff.GoneSection, func() { t.states(d.Gone) })
	t.section(d, diff.RequirementsSection, func() {
		for _, c := range d.Requirements {
			t.line("  "+arrow(orNone(c.Before), orNone(c.After))+"  ", oneLine(c.ID, maxText))
		}
	})
	t.section(d, diff.SlowerSection, func() {
		for _, s := range d.Slower {
			t.line(fmt.Sprintf("  %s → %s  ", Took(s.Before), Took(s.After)), oneLine(s.ID, maxText))
		}
	})
	t.printf("\n")
	t.line("", reports.Capitalize(diffVerdict(d)))
	return t.writeTo(w, "a diff to the terminal")
}

type diffTerminal struct{ terminal }

func (t *diffTerminal) section(d diff.Diff, s diff.Section, content func()) {
	if d.Count(s) == 0 {
		return
	}
	title := reports.Capitalize(counted(d, s))
	if s == diff.SlowerSection {
		title += " (" + paceOf(d) + ")"
	}
	t.printf("\n")
	t.line("", title+":")
	content()
}

// line writes a text behind what leads it, which may be in color.
func (t *diffTerminal) line(lead, text string) {
	indent := runewidth.StringWidth(colors.ReplaceAllString(lead, ""))
	if t.width > 0 && t.width-indent < narrowest && indent > len("    ") {
		t.printf("%s\n", strings.TrimRight(lead, " "))
		lead, indent = "", len("    ")
	}
	t.indented(lead, text, indent, t.width)
}

func (t *diffTerminal) subject(changes []diff.SubjectChange) {
	if len(changes) == 0 {
		return
	}
	t.printf("\nDifferent subjects:\n")
	for _, c := range changes {
		t.line("  ", oneLine(c.Name, maxText))
		for _, form := range c.Before {
			t.line("    - ", oneLine(form, maxText))
		}
		for _, form := range c.After {
			t.line("    + ", oneLine(form, maxText))
		}
	}
}

func (t *diffTerminal) changes(changes []diff.CellChange, problems []string) {
	for _, problem := range problems {
		t.line("  problem  ", oneLine(problem, maxText))
	}
	for _, c := range changes {
		outcome := t.outcome(c.After.Outcome, 0)
		if c.Before.Outcome != c.After.Outcome {
			outcome = t.outcome(c.Before.Outcome, 0) + " → " + outcome
		}
		t.line("  "+outcome+"  ", oneLine(c.ID, maxText))
		t.fields(changeDetails(c), "    ", t.width)
	}
}

// changeDetails is what is known of the checks of a cell that changed, or of its
// reason if no check did.
func changeDetails(c diff.CellChange) fields {
	var b fields
	for _, check := range c.Checks {
		was, is := checkStates(check)
		b.head("check %s: %s", oneLine(check.ID, maxText), arrow(checkOutcome(check.Before), checkOutcome(check.After)))
		writeField(&b, "requirement", cmp.Or(is.Requirement, was.Requirement))
		writeField(&b, "expected", cmp.Or(is.Expected, was.Expected))
		if is.Expected != "" && was.Expected != is.Expected {
			writeField(&b, "  before", was.Expected)
		}
		writeField(&b, "observed", is.Observed)
		if was.Observed != is.Observed {
			writeField(&b, "  before", was.Observed)
		}
		writeField(&b, "reason", cmp.Or(is.Reason, was.Reason))
	}
	if len(b) == 0 {
		writeField(&b, "reason", c.After.Reason)
		writeField(&b, "  before", c.Before.Reason)
	}
	return b
}

func checkStates(c diff.CheckChange) (was, is diff.CheckState) {
	return *cmp.Or(c.Before, new(diff.CheckState)), *cmp.Or(c.After, new(diff.CheckState))
}

// checkOutcome is the outcome of a check, and what is said where there is none.
func checkOutcome(s *diff.CheckState) string {
	if s == nil {
		return "none"
	}
	return s.Outcome.Word()
}

func arrow(before, after string) string {
	if before == after {
		return after
	}
	return before + " → " + after
}

func (t *diffTerminal) states(cells []diff.CellState) {
	for _, c := range cells {
		text := oneLine(c.ID, maxText) + "  " + oneLine(c.Reason, maxText)
		t.line("  "+t.outcome(c.Outcome, outcomeWidth)+"  ", strings.TrimRight(text, " "))
	}
}

// orNone is an outcome, and what is said of what a report does not state.
func orNone(o reports.Outcome) string { return cmp.Or(o.Word(), "none") }

func paceOf(d diff.Diff) string {
	return fmt.Sprintf("the median cell took %.2f times as long as before", d.Pace)
}
