package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
)

// DiffJSON writes a diff as indented JSON.
func DiffJSON(w io.Writer, d diff.Diff) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(d); err != nil {
		return fmt.Errorf("encoding a diff as JSON: %w", err)
	}
	return nil
}

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

// counted is how many entries a section has, in words.
func counted(d diff.Diff, s diff.Section) string {
	n := d.Count(s)
	title := diffTitles[s][1]
	if n == 1 {
		title = diffTitles[s][0]
	}
	return fmt.Sprintf("%d %s", n, title)
}

// diffVerdict says in a line what a diff comes to.
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
	t := diffTerminal{terminal{color: options.Color}}
	fmt.Fprintf(&t, "From %s to %s\n", oneLine(d.From, maxText), oneLine(d.To, maxText))
	t.subject(d.Subject)
	t.changes(counted(d, diff.RegressionsSection), d.Regressions, d.Problems.New)
	t.changes(counted(d, diff.FixesSection), d.Fixes, d.Problems.Gone)
	t.changes(counted(d, diff.ChangedSection), d.Changed, nil)
	t.states(counted(d, diff.NewSection), d.New)
	t.states(counted(d, diff.GoneSection), d.Gone)
	t.requirements(counted(d, diff.RequirementsSection), d.Requirements)
	t.slower(counted(d, diff.SlowerSection), d)
	fmt.Fprintf(&t, "\n%s\n", capitalized(diffVerdict(d)))
	if _, err := io.WriteString(w, t.String()); err != nil {
		return fmt.Errorf("writing a diff to the terminal: %w", err)
	}
	return nil
}

type diffTerminal struct{ terminal }

func (t *diffTerminal) subject(changes []diff.SubjectChange) {
	if len(changes) == 0 {
		return
	}
	fmt.Fprintf(t, "\nDifferent subjects:\n")
	for _, c := range changes {
		fmt.Fprintf(t, "  %s\n", oneLine(c.Name, maxText))
		for _, form := range c.Before {
			fmt.Fprintf(t, "    - %s\n", oneLine(form, maxText))
		}
		for _, form := range c.After {
			fmt.Fprintf(t, "    + %s\n", oneLine(form, maxText))
		}
	}
}

func (t *diffTerminal) changes(title string, changes []diff.CellChange, problems []string) {
	if len(changes)+len(problems) == 0 {
		return
	}
	fmt.Fprintf(t, "\n%s:\n", capitalized(title))
	for _, problem := range problems {
		fmt.Fprintf(t, "  problem  %s\n", oneLine(problem, maxText))
	}
	for _, c := range changes {
		fmt.Fprintf(t, "  %s  %s\n", t.fromTo(c.Before.Outcome, c.After.Outcome), oneLine(c.ID, maxText))
		for line := range strings.Lines(changeDetails(c)) {
			fmt.Fprintf(t, "    %s", line)
		}
	}
}

// fromTo is two outcomes with an arrow between them, or one if they are the same.
func (t *diffTerminal) fromTo(before, after reports.Outcome) string {
	if before == after {
		return t.outcome(after, 0)
	}
	return t.outcome(before, 0) + " → " + t.outcome(after, 0)
}

// changeDetails is what is known of the checks of a cell that changed, or of its
// reason if no check did.
func changeDetails(c diff.CellChange) string {
	var b strings.Builder
	for _, check := range c.Checks {
		was, is := checkStates(check)
		fmt.Fprintf(&b, "check %s: %s\n", oneLine(check.ID, maxText), arrow(checkOutcome(check.Before), checkOutcome(check.After)))
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
	if b.Len() == 0 {
		writeField(&b, "reason", c.After.Reason)
		writeField(&b, "  before", c.Before.Reason)
	}
	return b.String()
}

func checkStates(c diff.CheckChange) (was, is diff.CheckState) {
	if c.Before != nil {
		was = *c.Before
	}
	if c.After != nil {
		is = *c.After
	}
	return was, is
}

// checkOutcome is the outcome of a check, and what is said where there is none.
func checkOutcome(s *diff.CheckState) string {
	if s == nil {
		return "none"
	}
	return string(s.Outcome)
}

func arrow(before, after string) string {
	if before == after {
		return after
	}
	return before + " → " + after
}

func (t *diffTerminal) states(title string, cells []diff.CellState) {
	if len(cells) == 0 {
		return
	}
	fmt.Fprintf(t, "\n%s:\n", capitalized(title))
	for _, c := range cells {
		line := fmt.Sprintf("  %s  %s  %s", t.outcome(c.Outcome, outcomeWidth), oneLine(c.ID, maxText), oneLine(c.Reason, maxReason))
		fmt.Fprintln(t, strings.TrimRight(line, " "))
	}
}

func (t *diffTerminal) requirements(title string, changes []diff.RequirementChange) {
	if len(changes) == 0 {
		return
	}
	fmt.Fprintf(t, "\n%s:\n", capitalized(title))
	for _, c := range changes {
		fmt.Fprintf(t, "  %s  %s\n", arrow(orNone(c.Before), orNone(c.After)), oneLine(c.ID, maxText))
	}
}

// orNone is an outcome, and what is said of what a report does not state.
func orNone(o reports.Outcome) string { return cmp.Or(string(o), "none") }

func (t *diffTerminal) slower(title string, d diff.Diff) {
	if len(d.Slower) == 0 {
		return
	}
	fmt.Fprintf(t, "\n%s (%s):\n", capitalized(title), paceOf(d))
	for _, s := range d.Slower {
		fmt.Fprintf(t, "  %s → %s  %s\n", duration(s.Before), duration(s.After), oneLine(s.ID, maxText))
	}
}

func paceOf(d diff.Diff) string {
	return fmt.Sprintf("the median cell took %.2f times as long as before", d.Pace)
}
