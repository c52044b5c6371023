package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/graduation"
)

// maxDetail is how much of what was expected or observed a terminal shows, in
// runes.
const maxDetail = 300

// Graduation writes a result for a terminal: what is unmet first, with what
// contradicts it and what to run.
func Graduation(w io.Writer, r graduation.Result) error {
	var t markdown
	t.printf("%s, %s: %s\n", r.KEP, stageOf(r), graduationCounts(r))
	if r.Gate != nil {
		t.printf("%s\n", gateOf(r))
	}
	t.printf("%s\n", judgedOn(r))
	for _, report := range r.Reports {
		t.printf("report: %s (%s counted), made by: %s\n", oneLine(report.Dir, maxText), reports.Counted(report.Cells, "cell"), oneLine(report.Command, maxDetail))
	}
	for _, left := range r.LeftOut {
		t.printf("left out: %s: %s\n", reports.Counted(len(left.Cells), "cell"), left.Why)
	}
	for _, status := range graduation.Statuses() {
		for _, v := range r.Verdicts {
			if v.Status == status {
				t.verdictText(v)
			}
		}
	}
	return t.writeTo(w, "a graduation check")
}

func (m *markdown) verdictText(v graduation.Verdict) {
	m.printf("\n%s  %s\n    %s\n    (%s)\n", strings.ToUpper(string(v.Status)), v.ID, oneLine(v.Statement, maxText), v.Source)
	m.contradictionsText("contradicted by", v.Against)
	m.contradictionsText("ask the authors", v.Ambiguous)
	for _, missing := range v.Missing {
		m.printf("    missing: %s\n", oneLine(missing.What, maxText))
		if missing.Command != "" {
			m.printf("      %s\n", oneLine(missing.Command, maxText))
		}
	}
	for _, r := range v.Repeats {
		m.printf("    passed %s on %s: %s\n", reports.Counted(r.Runs, "time"), reports.Counted(len(r.Days), "day"), strings.Join(append([]string{r.Cell}, r.Days...), " "))
	}
	if v.Person != nil {
		m.printf("    who: %s\n    what: %s\n", v.Person.Who, v.Person.What)
	}
	if checks, cells := proofOf(v); checks > 0 {
		ref := v.Proof[0].In[0]
		m.printf("    supported by: %s in %s, such as %s (%s)\n", reports.Counted(checks, "check"), reports.Counted(cells, "cell"), oneLine(ref.Path, maxText), ref.Release)
	}
}

// contradictionsText lists checks that did not hold.
func (m *markdown) contradictionsText(how string, all []evidence.Contradiction) {
	for _, g := range grouped(all) {
		m.printf("    %s: %s, check %s is %s on %s\n", how, oneLine(g.Cell, maxText), oneLine(g.Check, maxText), g.Came, g.Release)
		for _, field := range [][2]string{{"expected", g.Expected}, {"observed", g.Observed}, {"reason", g.Reason}} {
			if field[1] != "" {
				m.printf("      %-9s %s\n", field[0], oneLine(field[1], maxText))
			}
		}
		for _, path := range g.paths {
			m.printf("      %-9s %s\n", "see", oneLine(path, maxText))
		}
	}
}

// GraduationMarkdown writes a result as GitHub renders it, with all evidence.
func GraduationMarkdown(w io.Writer, r graduation.Result) error {
	var m markdown
	m.printf("# %s: %s\n\n**%s.** %s\n\n", text(r.KEP), stageOf(r), graduationCounts(r), text(strings.TrimSpace(gateOf(r)+" "+judgedOn(r))))
	var rows [][]string
	for i, report := range r.Reports {
		rows = append(rows, []string{fmt.Sprint(i + 1), code(report.Dir), fmt.Sprint(report.Cells), code(report.Command)})
	}
	m.table(rows, "report", "directory", "cells that counted", "made by")
	for _, left := range r.LeftOut {
		m.printf("\n%s left out: %s.\n", reports.Counted(len(left.Cells), "cell"), text(left.Why))
	}
	for _, status := range graduation.Statuses() {
		m.printf("\n## %s\n", reports.Capitalize(string(status)))
		none := true
		for _, v := range r.Verdicts {
			if v.Status == status {
				none = false
				m.verdict(v)
			}
		}
		if none {
			m.printf("\nNone.\n")
		}
	}
	return m.writeTo(w, "a graduation check as Markdown")
}

func (m *markdown) verdict(v graduation.Verdict) {
	m.printf("\n### %s\n\n%s\n(%s)\n", code(v.ID), text(v.Statement), text(v.Source))
	if len(v.Against)+len(v.Ambiguous)+len(v.Missing) > 0 || v.Person != nil {
		m.printf("\n")
	}
	for _, g := range grouped(v.Against) {
		m.against("Contradicted by", g)
	}
	for _, g := range grouped(v.Ambiguous) {
		m.against("Ask the authors", g)
	}
	for _, missing := range v.Missing {
		m.printf("- **Missing:** %s\n", text(missing.What))
		if missing.Command != "" {
			m.printf("\n%s\n", fenced("sh", missing.Command, "  "))
		}
	}
	if v.Person != nil {
		m.printf("- **Needs a person:** %s: %s\n", text(v.Person.Who), text(v.Person.What))
	}
	if len(v.Repeats) > 0 {
		m.printf("\n")
		m.table(reports.Each(v.Repeats, func(r graduation.Repeats) []string {
			return []string{code(r.Cell), fmt.Sprint(r.Runs), fmt.Sprint(len(r.Days)), strings.Join(r.Days, ", ")}
		}), "cell", "passed", "days", "dates")
	}
	m.proof(v)
}

func (m *markdown) against(how string, g contradictions) {
	m.printf("- **%s:** %s, check %s, %s on %s", how, code(g.Cell), code(g.Check), g.Came, code(g.Release))
	if g.Requirement != "" {
		m.printf(", of %s", code(g.Requirement))
	}
	m.printf("\n  - expected: %s\n  - observed: %s\n", text(g.Expected), text(cmp.Or(g.Observed, "-")))
	if g.Reason != "" {
		m.printf("  - %s\n", text(g.Reason))
	}
	for _, path := range g.paths {
		m.printf("  - see %s\n", code(path))
	}
}

func (m *markdown) proof(v graduation.Verdict) {
	checks, cells := proofOf(v)
	if checks == 0 {
		return
	}
	m.printf("\n<details><summary>Supported by: %s in %s</summary>\n\n", reports.Counted(checks, "check"), reports.Counted(cells, "cell"))
	for _, f := range v.Proof {
		m.printf("- %s: %s in\n", code(f.Of), reports.Counted(f.Checks, "check"))
		for _, ref := range f.In {
			m.printf("  - %s (%s%s)\n", code(ref.Path), code(ref.Release), on(ref))
		}
	}
	m.printf("\n</details>\n")
}

// contradictions are the same check against something, in one or more reports.
type contradictions struct {
	evidence.Contradiction
	paths []string
}

func grouped(all []evidence.Contradiction) (groups []contradictions) {
	for _, same := range reports.Grouped(all, func(c evidence.Contradiction) [3]string { return [3]string{c.Cell, c.Check, string(c.Came)} }) {
		g := contradictions{Contradiction: same[0]}
		for _, c := range same {
			if !slices.Contains(g.paths, c.Path) {
				g.paths = append(g.paths, c.Path)
			}
		}
		groups = append(groups, g)
	}
	return groups
}

func proofOf(v graduation.Verdict) (checks, cells int) {
	in := make(map[string]bool)
	for _, f := range v.Proof {
		checks += f.Checks
		for _, ref := range f.In {
			in[ref.Cell] = true
		}
	}
	return checks, len(in)
}

// gateOf says what the gate is in the newest release of the runs.
func gateOf(r graduation.Result) string {
	if r.Gate == nil {
		return ""
	}
	return reports.Capitalize(r.Gate.Of(r.GateName)) + "."
}

func stageOf(r graduation.Result) string {
	if r.Milestone == "" {
		return r.Stage + " (no release yet)"
	}
	return r.Stage + " in " + r.Milestone
}

// graduationCounts says how many criteria have each status, those that are met first.
func graduationCounts(r graduation.Result) string {
	var parts []string
	for _, status := range append([]graduation.Status{graduation.Met}, graduation.Statuses()...) {
		n, what := r.Count(status), string(status)
		switch {
		case len(parts) > 0 && (n == 0 || status == graduation.Met):
			continue
		case n != 1 && status == graduation.NeedsPerson:
			what = "need a person"
		case status == graduation.NoEvidence:
			what = "without evidence"
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, what))
	}
	return strings.Join(parts, ", ")
}

// judgedOn says what counted as evidence.
func judgedOn(r graduation.Result) string {
	if len(r.Releases) == 0 {
		return fmt.Sprintf("Nothing was judged: no cell of %s ran on %s or a newer release.", r.KEP, r.Since)
	}
	ran := reports.Each(r.Releases, func(release graduation.Release) string {
		return fmt.Sprintf("%s (%s)", release.Version, reports.Counted(release.Cells, "cell"))
	})
	said := "Judged on " + strings.Join(ran, ", ") + "."
	if r.Since != r.Milestone {
		why := "no release has the stage yet"
		if r.Milestone != "" {
			why = r.Milestone + " itself did not run"
		}
		said += fmt.Sprintf(" Evidence of %s and newer counts, since %s.", r.Since, why)
	}
	return said
}

func on(ref evidence.Ref) string {
	if ref.Started.IsZero() {
		return ""
	}
	return ", " + ref.Started.UTC().Format("2006-01-02")
}

// fenced returns lines as a block of code that nothing in them ends.
func fenced(language, content, indent string) string {
	lines := printableLines(content)
	fence := "```"
	for strings.Contains(content, fence) {
		fence += "`"
	}
	lines = append(append([]string{fence + language}, lines...), fence)
	return indent + strings.Join(lines, "\n"+indent)
}
