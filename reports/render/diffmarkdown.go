package render

import (
	"cmp"
	"io"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
)

// maxComment is how long a comment on GitHub may be, in bytes. GitHub counts
// characters, of which there are no more.
const maxComment = 65536

// DiffMark is the first line of a diff in Markdown. Whoever keeps one comment up to
// date instead of writing a new one for each run knows it by this.
const DiffMark = "<!-- skewrig diff -->"

// DiffMarkdown writes a diff as Markdown, for a comment on a pull request: what
// matters first, the rest folded, and never longer than such a comment may be.
func DiffMarkdown(w io.Writer, d diff.Diff) error {
	m := diffMarkdown{bounded{limit: maxComment}}
	m.printf("%s\n### skewrig: %s\n\nFrom %s to %s.\n", DiffMark, diffVerdict(d), code(shortened(d.From, maxBrief)), code(shortened(d.To, maxBrief)))
	m.subject(d.Subject)
	if n := d.Count(diff.RegressionsSection); n > 0 {
		m.printf("\n#### %s\n", reports.Capitalize(diffTitles[diff.RegressionsSection][1]))
		m.problems(d.Problems.New)
		m.changes(d.Regressions)
		if len(d.Regressions) > 0 {
			m.folded("checks", func() { m.checks(d.Regressions) })
		}
	}
	m.section(d, diff.FixesSection, func() { m.problems(d.Problems.Gone); m.changes(d.Fixes) })
	m.section(d, diff.ChangedSection, func() { m.changes(d.Changed); m.checks(d.Changed) })
	m.section(d, diff.NewSection, func() { m.states(d.New) })
	m.section(d, diff.GoneSection, func() { m.states(d.Gone) })
	m.section(d, diff.RequirementsSection, func() { m.requirements(d.Requirements) })
	m.section(d, diff.SlowerSection, func() { m.slower(d) })
	return m.writeTo(w, "a diff as Markdown")
}

type diffMarkdown struct{ bounded }

func (m *diffMarkdown) section(d diff.Diff, s diff.Section, content func()) {
	if d.Count(s) > 0 {
		m.folded(counted(d, s), content)
	}
}

func (m *diffMarkdown) subject(changes []diff.SubjectChange) {
	if len(changes) == 0 {
		return
	}
	m.printf("\n**Different subjects**, which may cause the differences below:\n")
	m.rows(reports.Each(changes, func(c diff.SubjectChange) []string {
		return []string{code(c.Name), brief(strings.Join(c.Before, "\n")), brief(strings.Join(c.After, "\n"))}
	}), "what", "before", "after")
}

func (m *diffMarkdown) changes(changes []diff.CellChange) {
	m.rows(reports.Each(changes, func(c diff.CellChange) []string {
		return []string{code(c.ID), c.Before.Outcome.Word(), c.After.Outcome.Word(), brief(cmp.Or(c.After.Reason, c.Before.Reason))}
	}), "cell", "was", "is", "reason")
}

func (m *diffMarkdown) checks(changes []diff.CellChange) {
	var rows [][]string
	for _, c := range changes {
		for _, check := range c.Checks {
			was, is := checkStates(check)
			rows = append(rows, []string{
				code(c.ID), code(check.ID), checkOutcome(check.Before), checkOutcome(check.After),
				brief(cmp.Or(is.Expected, was.Expected)), brief(is.Observed), brief(was.Observed),
			})
		}
	}
	m.rows(rows, "cell", "check", "was", "is", "expected", "observed", "observed before")
}

func (m *diffMarkdown) states(cells []diff.CellState) {
	m.rows(reports.Each(cells, func(c diff.CellState) []string {
		return []string{code(c.ID), c.Outcome.Word(), brief(c.Reason)}
	}), "cell", "outcome", "reason")
}

func (m *diffMarkdown) requirements(changes []diff.RequirementChange) {
	m.rows(reports.Each(changes, func(c diff.RequirementChange) []string {
		return []string{code(c.ID), orNone(c.Before), orNone(c.After)}
	}), "requirement", "was", "is")
}

func (m *diffMarkdown) slower(d diff.Diff) {
	m.printf("\n%s.\n", reports.Capitalize(paceOf(d)))
	m.rows(reports.Each(d.Slower, func(s diff.Slower) []string {
		return []string{code(s.ID), Took(s.Before), Took(s.After)}
	}), "cell", "took", "takes")
}
