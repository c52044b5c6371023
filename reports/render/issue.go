package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
)

// Issue drafts what a finding is reported with: a bug report in the form that
// kubernetes/kubernetes asks for or, of a text, the description of a pull request that
// changes it. Of what is reported already it is a comment. It names nothing that only the
// reader's machine has.
func Issue(w io.Writer, r reports.Report, f finding.Finding) error {
	var m markdown
	switch {
	case f.Issue != "":
		m.comment(r, f)
	case f.Class.OfText():
		m.pullRequest(f)
	default:
		m.bugReport(r, f)
	}
	return m.writeTo(w, "the draft of an issue")
}

// Issues drafts what findings are reported with, by weight: one issue or pull request
// for each, but one pull request for all that is behind in a text, and comments on what is
// reported already. Those that have a case, by their ids, are reported with its evidence.
func Issues(w io.Writer, r reports.Report, all []finding.Finding, cases map[string]finding.Case) error {
	one := func(f finding.Finding) string {
		switch {
		case f.Issue != "":
			return "comment " + f.ID
		case f.Class == reports.Outrun:
			return cmp.Or(subjectOf(f), f.ID)
		}
		return "finding " + f.ID
	}
	for i, of := range reports.Grouped(all, one) {
		if i > 0 {
			if _, err := io.WriteString(w, "\n---\n\n"); err != nil {
				return fmt.Errorf("writing the drafts of issues: %w", err)
			}
		}
		if err := draft(w, r, of, cases); err != nil {
			return err
		}
	}
	return nil
}

// draft drafts what findings are reported with together.
func draft(w io.Writer, r reports.Report, of []finding.Finding, cases map[string]finding.Case) error {
	if c, has := cases[of[0].ID]; has {
		return CaseIssue(w, r, of[0], c)
	}
	if len(of) == 1 {
		return Issue(w, r, of[0])
	}
	var m markdown
	m.pullRequestOf(of)
	return m.writeTo(w, "the draft of a pull request")
}

// pullRequestOf is one pull request for what is behind in a text, with a section for
// each finding.
func (m *markdown) pullRequestOf(all []finding.Finding) {
	line := fmt.Sprintf("say what releases do, in %d places", len(all))
	m.title(subjectOf(all[0]) + ": " + line)
	m.printf("\n- One-line PR description: %s\n- Issue link: %s\n- Other comments: one section for each place\n", reports.Capitalize(line), trackingIssue(all[0]))
	for _, f := range all {
		m.printf("\n## %s\n", text(f.Headline))
		m.correction(f)
	}
}

// title writes the title of a draft. It is no Markdown: in a title, GitHub shows escapes.
func (m *markdown) title(said string) { m.printf("%s\n", oneLine(said, maxText)) }

func (m *markdown) bugReport(r reports.Report, f finding.Finding) {
	b := BugReport{Title: f.Headline, Machine: &r}
	b.Happened = section(func(m *markdown) {
		if f.Class == reports.Unlisted { // nothing more is known of it than values
			m.printf("%s\n\n", fenced("", f.Instead, ""))
		} else {
			m.printf("%s\n\n", sentences(f.Instead, f.Effect))
		}
		m.seenOn(f)
		m.inThisRun(f)
	})
	b.Expected = section(func(m *markdown) { m.expectation(f) })
	b.Reproduce = section(func(m *markdown) { m.steps(r, f) })
	b.Background = section(func(m *markdown) {
		m.decidedAt(f)
		if f.Since != "" {
			m.printf("\nSince %s\n", f.Since)
		}
		if f.Ask != "" {
			m.printf("\nPossible fix: %s.\n", text(f.Ask))
		}
	})
	b.Version = fenced("console", strings.Join(slices.Concat(f.Releases, f.Gates), "\n"), "")
	m.printf("%s", b.Markdown())
}

// withSkewrig says how to see it with skewrig, and how to get that.
func (m *markdown) withSkewrig(r reports.Report, command string) {
	m.printf("\nWith skewrig, which runs the released components without containers:\n\n%s\n", fenced("sh", r.Reproduce.Install()+dated(r)+"\n"+command, ""))
}

// dated says when a report was made whose skewrig has no commit: nothing else tells which
// latest it was.
func dated(r reports.Report) string {
	day := dayOf(r)
	if reports.Revision(r.Reproduce.Skewrig) != "" || day == "" {
		return ""
	}
	return "  # this run was on " + day
}

// dayOf is the day on which the last cell of a report began. It is empty if none did.
func dayOf(r reports.Report) string {
	var last time.Time
	for _, c := range r.Cells {
		for _, run := range c.EachRun() {
			if run.Started.After(last) {
				last = run.Started
			}
		}
	}
	if last.IsZero() {
		return ""
	}
	return last.UTC().Format("2 January 2006")
}

// sentences are those of texts that say something, one after the other.
func sentences(texts ...string) string {
	var all []string
	for _, t := range texts {
		if t != "" {
			all = append(all, reports.Capitalize(text(t))+".")
		}
	}
	return strings.Join(all, " ")
}

// pullRequest is in the form that kubernetes/enhancements asks for.
func (m *markdown) pullRequest(f finding.Finding) {
	m.title(subjectOf(f) + ": " + f.Headline)
	m.printf("\n- One-line PR description: %s\n- Issue link: %s\n- Other comments:\n", text(f.Headline), trackingIssue(f))
	m.correction(f)
}

// correction says what a text says, what is so instead, and how to see it.
func (m *markdown) correction(f finding.Finding) {
	m.expectation(f)
	m.printf("\n%s\n\n", sentences("Releases: "+cmp.Or(f.Instead, "see below"), f.Effect))
	m.seenOn(f)
	m.inThisRun(f)
	m.decidedAt(f)
	if f.Ask != "" {
		m.printf("\n%s.\n", reports.Capitalize(text(f.Ask)))
	}
	m.printf("\nSee it:\n\n%s\n", fenced("sh", f.Reproduce, ""))
}

// seenOn says with which releases and gates it was seen, and with which it was not. What
// each check observed is for those who have skewrig.
func (m *markdown) seenOn(f finding.Finding) {
	var rows [][]string
	for _, row := range seenRows(f) {
		if outcome := row[3]; outcome != "" {
			rows = withRow(rows, []string{row[0], row[1], outcome})
		}
	}
	m.table(rows, "releases", "gates", "outcome")
}

// decidedAt lists where in the code it is decided.
func (m *markdown) decidedAt(f finding.Finding) {
	for i, at := range f.At {
		if i == 0 {
			m.printf("\nIt is probably decided here, as of the release in the address:\n\n")
		}
		m.printf("- %s\n", bareLink(at))
	}
}

// expectation writes the statements that a finding is about.
func (m *markdown) expectation(f finding.Finding) {
	statements := slices.DeleteFunc(append([]finding.Statement{f.Statement}, f.Also...), func(s finding.Statement) bool { return s.Statement == "" })
	for i, s := range statements {
		m.stated(s, i == 0)
	}
}

// trackingIssue is the issue of the enhancement that a finding is about.
func trackingIssue(f finding.Finding) string {
	if number, is := strings.CutPrefix(subjectOf(f), "KEP-"); is {
		number, _, _ = strings.Cut(number, "-") // of a draft of its text, too
		return "https://github.com/kubernetes/enhancements/issues/" + number
	}
	return "none"
}
