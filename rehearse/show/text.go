package show

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// How much a terminal gets. The report directory has the rest.
const (
	wholeFindings = 3 // findings with all that is known of them
	moreFindings  = 5 // findings in a line
	maxLines      = 3 // lines about anything else
	maxNotices    = 5
)

// Text writes a report for a terminal, in about a screen: the answer, the findings, worst first, and what the answer does
// not cover. The directory has the full report. If it is empty, none was written.
func Text(w io.Writer, r rehearse.Report, dir string) error {
	t := new(text)
	t.line("%s", Answer(r))
	for i, f := range r.Findings {
		switch {
		case i < wholeFindings:
			t.finding(i+1, f)
		case i < wholeFindings+moreFindings:
			t.line("%d. %s, %s: %s (%s)", i+1, f.What, direction(f), render.Brief(f.Summary, maxBrief), reports.Counted(len(f.Objects), "object"))
		}
	}
	t.more(len(r.Findings)-wholeFindings-moreFindings, "finding")
	t.known(r.Known)
	t.problems(r.Problems)
	t.unrest(r)
	t.inert(r.Inert)
	t.notices(r.Notices)
	var ran []string
	if names := reports.Each(r.Operators, func(o rehearse.RanOperator) string { return o.Name }); len(names) > 0 {
		ran = append(ran, "Operators that ran: "+render.Brief(strings.Join(names, ", "), maxBrief)+".")
	}
	if len(r.Mocked) > 0 {
		ran = append(ran, "Not real: "+render.Brief(strings.Join(r.Mocked, "; "), 2*maxBrief))
	}
	if len(ran) > 0 {
		t.line("%s", strings.Join(ran, " "))
	}
	if dir != "" {
		t.line("Full report: %s, and %s", render.Line(filepath.Join(dir, PageFile)), render.Line(filepath.Join(dir, JSONFile)))
	}
	_, err := io.WriteString(w, t.String())
	return err
}

type text struct{ strings.Builder }

func (t *text) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// more says how many items are omitted.
func (t *text) more(n int, what string) {
	if n > 0 {
		t.line("  and %s in the report", reports.Counted(n, "more "+what))
	}
}

func (t *text) finding(n int, f rehearse.Finding) {
	t.line("%d. %s: %s", n, strings.ToUpper(string(f.What)), render.Brief(f.Summary, maxBrief))
	t.line("   when: %s, %s", direction(f), happens(f))
	shown := f.Objects
	if len(shown) > 2 {
		shown = shown[:1]
	}
	for i, o := range shown {
		rest := ""
		if more := len(f.Objects) - len(shown); more > 0 && i == len(shown)-1 {
			rest = fmt.Sprintf(", and %d more", more)
		}
		if o.Detail != "" {
			rest += ": " + render.Brief(o.Detail, maxBrief)
		}
		t.line("   where: %s%s", named(o.Ref), rest)
	}
	if f.Cause != "" {
		t.line("   why: %s", render.Brief(f.Cause, maxBrief))
	}
	if f.Advice != "" {
		t.line("   do: %s", render.Brief(f.Advice, maxBrief))
	}
}

func (t *text) known(known []rehearse.Finding) {
	if len(known) == 0 {
		return
	}
	names := reports.Each(known, func(f rehearse.Finding) string {
		return fmt.Sprintf("%s, %s (%s)", f.What, direction(f), render.Brief(f.Accepted, maxBrief))
	})
	t.line("Known and accepted: %s", strings.Join(names[:min(len(names), maxLines)], "; "))
	t.more(len(known)-maxLines, "known finding")
}

func (t *text) problems(problems []manifest.Problem) {
	if len(problems) == 0 {
		return
	}
	t.line("Left out, %s:", reports.Counted(len(problems), "document"))
	for _, p := range problems[:min(len(problems), maxLines)] {
		t.line("  %s", render.Brief(p.Error(), 2*maxBrief))
	}
	t.more(len(problems)-maxLines, "document")
}

// unrest says which objects did not come to rest before the upgrade, and in which stages the same is true.
func (t *text) unrest(r rehearse.Report) {
	waiting := pending(r)
	for i, same := range waiting {
		switch {
		case i < maxLines:
			t.line("Pending at %s: %s: %s", r.From, few(refsOf(same), 1), render.Brief(same[0].Pending, maxBrief))
		case i == maxLines:
			t.line("  and %s in the report", reports.Counted(len(waiting)-i, "more reason"))
		}
	}
	if stages := restless(r); len(stages) > 0 {
		t.line("Not everything was at rest when these stages ended, more may show later: %s", strings.Join(stages, ", "))
	}
}

// pending are the objects that did not come to rest before the upgrade, by reason.
func pending(r rehearse.Report) [][]rehearse.Object {
	waiting := reports.Only(r.Objects, func(o rehearse.Object) bool { return o.Pending != "" })
	return reports.Grouped(waiting, func(o rehearse.Object) string { return o.Pending })
}

// restless are the names of the stages that ended before everything was at rest.
func restless(r rehearse.Report) (names []string) {
	for _, s := range r.Stages {
		if s.Restless {
			names = append(names, string(s.Name))
		}
	}
	return names
}

func refsOf(objects []rehearse.Object) []rehearse.Ref {
	return reports.Each(objects, func(o rehearse.Object) rehearse.Ref { return o.Ref })
}

func (t *text) inert(inert []rehearse.Inert) {
	for _, i := range inert[:min(len(inert), maxLines)] {
		t.line("Nothing acted on %s: %s", few(i.Objects, 1), render.Brief(i.Why, maxBrief))
	}
	t.more(len(inert)-maxLines, "reason")
}

func (t *text) notices(notices []rehearse.Notice) {
	for _, n := range notices[:min(len(notices), maxNotices)] {
		at := ""
		if len(n.Objects) > 0 {
			at = " (" + few(n.Objects, 1) + ")"
		}
		t.line("Notice: %s%s", render.Brief(n.Text, maxBrief), at)
	}
	t.more(len(notices)-maxNotices, "notice")
}
