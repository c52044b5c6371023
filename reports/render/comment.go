package render

import (
	"cmp"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
)

// comment drafts what is said of a finding where it is reported already: with which releases it
// is still seen, and how.
func (m *markdown) comment(r reports.Report, f finding.Finding) {
	m.printf("<!-- a comment on %s -->\n", strings.ReplaceAll(bareLink(f.Issue), "--", "%2D%2D"))
	m.printf("This is also seen with %s%s.\n\n", text(cmp.Or(strings.Join(f.Releases, ", "), "the releases below")), onDate(r))
	if said := sentences(f.Instead, f.Effect); said != "" {
		m.printf("%s\n\n", said)
	}
	m.seenOn(f)
	m.expectation(f)
	m.inThisRun(f)
	m.decidedAt(f)
	m.steps(r, f)
}

// steps say how to see a finding: without skewrig, if that is known, and with it.
func (m *markdown) steps(r reports.Report, f finding.Finding) {
	if script := f.Script(); script != "" {
		m.printf("\n%s\n", fenced("sh", script, ""))
	}
	m.withSkewrig(r, f.Reproduce)
}

// onDate says on which day a run was, if that is known.
func onDate(r reports.Report) string {
	if day := dayOf(r); day != "" {
		return " on " + day
	}
	return ""
}
