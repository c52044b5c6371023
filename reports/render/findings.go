package render

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
)

// How many findings have their scripts on the first screen of a page, and how many are in
// its first table and shown in full.
const (
	firstFindings = 5
	openFindings  = 10
)

// maxSeen is how many rows the table of a finding has.
const maxSeen = 12

// maxObserved is how much of what was observed a table shows, in runes.
const maxObserved = 120

// Findings writes findings as Markdown, by weight: a table of the first ten, how to see
// the first five, then a table of all, then each with its evidence. All but the first
// ten are folded.
func Findings(w io.Writer, r reports.Report, all []finding.Finding) error {
	var m markdown
	m.printf("# Findings\n\n%s\n", findingCounts(all))
	if len(all) > 0 {
		m.opening(all)
		m.printf("\n## All findings\n\nThose that affect users most come first.\n\n")
		m.table(reports.Each(all, findingRow), "finding", "of", "seen on", "reported")
	}
	for i, f := range all {
		if folded := i >= openFindings; folded {
			m.printf("\n<details><summary>%s</summary>\n", text(f.Headline))
			m.finding(f)
			m.printf("\n</details>\n")
			continue
		}
		m.finding(f)
	}
	m.printf("\n<details><summary>What ran</summary>\n\n")
	m.table(reports.Each(r.Reproduce.Components, func(c reports.Component) []string { return []string{code(c.Name), code(c.Version), code(c.Source)} }), "component", "version", "source")
	m.printf("\n</details>\n")
	return m.writeTo(w, "the findings")
}

// findingCounts says how many findings there are of each class.
func findingCounts(all []finding.Finding) string {
	if len(all) == 0 {
		return "None: every release that ran does what its texts say."
	}
	var parts []string
	unreported := 0
	for _, of := range reports.Grouped(all, func(f finding.Finding) reports.Class { return f.Class }) {
		parts = append(parts, fmt.Sprintf("%s: %d", of[0].Class.Meaning(), len(of)))
	}
	for _, f := range all {
		if f.Issue == "" {
			unreported++
		}
	}
	return fmt.Sprintf("%s in this run. %s. Not reported: %d.", reports.Counted(len(all), "finding"), strings.Join(parts, ". "), unreported)
}

// opening writes what a reader of the first screen is to know.
func (m *markdown) opening(all []finding.Finding) {
	m.printf("\nThe project's tests run the cell of each `skewrig run` command, and none of the scripts without skewrig.")
	shared := reports.Grouped(prepared(all), func(f finding.Finding) string { return f.Preparation })
	if len(shared) > 0 {
		m.printf(" Those that begin with `cluster` need a [preparation](#%s).", preparation)
	}
	m.printf("\n\n")
	number := 0
	m.table(reports.Each(all[:min(openFindings, len(all))], func(f finding.Finding) []string {
		number++
		return append([]string{fmt.Sprint(number)}, firstRow(f)...)
	}), "", "finding", "seen on", "gates that were set", "since", "reported")
	for i, f := range all[:min(firstFindings, len(all))] {
		m.brief(i+1, f)
	}
	for i, of := range shared {
		if i == 0 {
			m.printf("\n<a id=\"%s\"></a>\n", preparation)
		}
		m.printf("\n**Preparation** for the scripts without skewrig, once in a shell:\n\n%s\n", fenced("sh", of[0].Preparation, ""))
	}
	m.known(all)
}

// preparation is where the preparation of scripts stands on its page.
const preparation = "preparation"

// prepared are the findings whose scripts need a preparation.
func prepared(all []finding.Finding) []finding.Finding {
	return reports.Only(all, func(f finding.Finding) bool { return f.Preparation != "" })
}

// firstRow is the row of a finding in the first table.
func firstRow(f finding.Finding) []string {
	return []string{
		fmt.Sprintf("[%s](#%s)", text(f.Headline), anchor(f)), text(SeenOn(f)),
		text(cmp.Or(strings.Join(f.Gates, "; "), "none")), cmp.Or(linkedText(f.Since), "-"), reported(f),
	}
}

// brief writes what it means for users, and how to see it, first with skewrig.
func (m *markdown) brief(number int, f finding.Finding) {
	m.printf("\n**%d. [%s](#%s)** (%s%s): %s.\n", number, text(f.Headline), anchor(f), text(SeenOn(f)), gatesAndSince(f), text(cmp.Or(f.Effect, f.Instead)))
	script := f.Reproduce
	if f.Without != "" {
		script += "\n\n# without skewrig:\n" + f.Without
	}
	m.printf("\n%s\n", fenced("sh", script, ""))
}

// gatesAndSince is what the headline of a finding says of them.
func gatesAndSince(f finding.Finding) (said string) {
	if len(f.Gates) > 0 {
		said += "; " + text(strings.Join(f.Gates, "; "))
	}
	if f.Since != "" {
		said += "; since " + linkedText(f.Since)
	}
	return said
}

// known names the findings that are reported already.
func (m *markdown) known(all []finding.Finding) {
	var known []string
	for _, f := range all {
		if f.Issue != "" {
			known = append(known, fmt.Sprintf("[%s](#%s) (%s)", text(f.Headline), anchor(f), reported(f)))
		}
	}
	if len(known) > 0 {
		m.printf("\nReported already: %s.\n", strings.Join(known, "; "))
	}
}

func findingRow(f finding.Finding) []string {
	return []string{fmt.Sprintf("[%s](#%s)", text(f.Headline), anchor(f)), text(cmp.Or(subjectOf(f), "-")) + ", " + f.Class.Word(), text(SeenOn(f)), reported(f)}
}

// subjectOf is the text that a finding is about.
func subjectOf(f finding.Finding) string {
	of, _, _ := strings.Cut(f.Requirement, "/")
	return of
}

// anchor is where a finding stands on its page.
func anchor(f finding.Finding) string { return "finding-" + beyondNames.ReplaceAllString(f.ID, "-") }

// beyondNames is what could end the name of an anchor, or a link to it.
var beyondNames = regexp.MustCompile(`[^\pL\pN_.-]+`)

// SeenOn is the releases on which a finding was seen, briefly: those of the same
// component together.
func SeenOn(f finding.Finding) string {
	if len(f.Releases) == 0 {
		return "releases are not known"
	}
	var parts []string
	component := func(s string) string { return s[:strings.LastIndex(" "+s, " ")] }
	for _, of := range reports.Grouped(f.Releases, component) {
		for i := range of[1:] {
			of[1+i] = of[1+i][len(component(of[0])):]
		}
		parts = append(parts, strings.Join(of, ", "))
	}
	return strings.Join(parts, " or ")
}

func reported(f finding.Finding) string {
	if f.Issue == "" {
		return "not reported"
	}
	return link(ShortLink(f.Issue), f.Issue)
}

// ShortLink is an address without its site: "kubernetes/kubernetes#1" of an issue.
func ShortLink(address string) string {
	_, after, _ := strings.Cut(strings.TrimPrefix(address, "https://"), "/")
	return strings.NewReplacer("/issues/", "#", "/pull/", "#").Replace(after)
}

// finding writes one finding with its evidence.
func (m *markdown) finding(f finding.Finding) {
	m.printf("\n<a id=\"%s\"></a>\n\n### %s\n\n%s, %s, %s: %s\n", anchor(f), text(f.Headline), code(f.ID), f.Class.Word(), text(SeenOn(f)), reported(f))
	m.expectation(f)
	if f.Class == reports.Unlisted && f.Observed[0].Expected != "" {
		m.printf("\n**Expected:** %s\n", text(f.Observed[0].Expected))
	}
	m.printf("\n**Instead:** %s.\n", text(f.Instead))
	if f.Said != "" {
		m.printf("\n**Observed:** %s\n", text(f.Said))
	}
	for _, field := range []struct{ label, said string }{{"Effect", f.Effect}, {"Ask", f.Ask}, {"Since", f.Since}, {"Fixed by", f.FixedBy}} {
		if field.said != "" {
			m.printf("\n**%s:** %s.\n", field.label, linkedText(field.said))
		}
	}
	if len(f.At) > 0 {
		places := reports.Each(f.At, func(at string) string { return link(Place(at), at) })
		m.printf("\n**Where:** %s\n", strings.Join(places, ", "))
	}
	m.printf("\n")
	m.table(seenRows(f), "releases", "gates", "check", "outcome", "observed")
	m.printf("\nSee it with skewrig:\n\n%s\n", fenced("sh", f.Reproduce, ""))
	if f.Without != "" {
		after := ""
		if f.Preparation != "" {
			after = ", after the [preparation](#" + preparation + ")"
		}
		m.printf("\nWithout it%s:\n\n%s\n", after, fenced("sh", f.Without, ""))
	}
}

// FindingTerminal writes one finding with its evidence for people at a terminal, in lines
// of at most so many columns if that is not 0.
func FindingTerminal(w io.Writer, f finding.Finding, width int) error {
	var all fields
	all.head("%s  %s", f.Class.Word(), oneLine(f.ID, maxText))
	all.head("%s", oneLine(f.Headline, maxText))
	for _, s := range append([]finding.Statement{f.Statement}, f.Also...) {
		writeField(&all, "statement", s.Statement)
		writeField(&all, "sentence", s.Sentence)
		writeField(&all, "source", s.Source)
	}
	for _, said := range []field{
		{"instead", f.Instead}, {"observed", f.Said}, {"effect", f.Effect}, {"ask", f.Ask}, {"since", f.Since}, {"fixed by", f.FixedBy}, {"reported", f.Issue},
		{"where", strings.Join(f.At, "\n")}, {"seen on", SeenOn(f)}, {"again", f.Reproduce},
	} {
		writeField(&all, said.name, said.value)
	}
	for _, o := range f.Observed {
		all.head("")
		all.head("%s: %s", oneLine(o.Cell, maxText), o.Outcome.Word())
		writeField(&all, "check", o.Check)
		writeField(&all, "releases", o.Releases)
		writeField(&all, "gates", o.Gates)
		writeField(&all, "expected", o.Expected)
		writeField(&all, "observed", o.Observed)
	}
	var g gathered
	g.fields(all, "", width)
	return g.writeTo(w, "a finding to the terminal")
}

// stated writes a statement with its place in the text.
func (m *markdown) stated(s finding.Statement, first bool) {
	label := "And, in our words"
	if first {
		label = "The text, in our words"
	}
	if s.Line == 0 {
		label = "Statement"
	}
	from := text(s.Source)
	if place := inDocument(s); place != "" {
		from += ", " + place
	}
	m.printf("\n**%s:** %s (%s)\n", label, text(s.Statement), from)
	if s.Sentence != "" {
		m.printf("\n> %s\n", text(s.Sentence))
	}
}

// inDocument is the line of a statement in its document, if one says it.
func inDocument(s finding.Statement) string {
	if s.Line == 0 {
		if s.Beyond != "" {
			return "in no sentence; from " + text(s.Beyond)
		}
		return ""
	}
	label := fmt.Sprintf("%s line %d", path.Base(path.Dir(s.Document))+"/"+path.Base(s.Document), s.Line)
	if _, is := reports.WebAddress(s.Document); !is {
		return text(fmt.Sprintf("%s line %d", s.Document, s.Line))
	}
	return link(label, fmt.Sprintf("%s?plain=1#L%d", s.Document, s.Line))
}

// Place is a line of a file at a tag, of its address.
func Place(address string) string {
	repository, file, found := strings.Cut(strings.TrimPrefix(address, "https://github.com/"), "/blob/")
	if !found {
		return address
	}
	tag, file, _ := strings.Cut(file, "/")
	return strings.ReplaceAll(file, "#L", ":") + " of " + path.Base(repository) + " " + tag
}

// seenRows are the distinct rows of what checks saw, deviations first.
func seenRows(f finding.Finding) [][]string {
	var rows [][]string
	sorted := slices.Clone(f.Observed)
	slices.SortStableFunc(sorted, func(a, b finding.Observation) int { return b.Outcome.Compare(a.Outcome) })
	for _, o := range sorted {
		outcome := "as stated"
		switch {
		case o.Outcome == reports.Ambiguous:
			outcome = "ambiguous"
		case o.Deviates():
			outcome = "**deviates**"
		}
		row := []string{text(o.Releases), text(o.Gates), code(o.Check), outcome, text(shortened(o.Observed, maxObserved))}
		rows = withRow(rows, row)
	}
	if more := len(rows) - maxSeen; more > 0 {
		rows = append(rows[:maxSeen], []string{fmt.Sprintf("and %d more", more), "", "", "", ""})
	}
	return rows
}

// withRow adds a row that is not there yet.
func withRow(rows [][]string, row []string) [][]string {
	if slices.ContainsFunc(rows, func(r []string) bool { return slices.Equal(r, row) }) {
		return rows
	}
	return append(rows, row)
}

// linkedText escapes a text, and keeps an address at its end a link.
func linkedText(s string) string {
	words := strings.Fields(s)
	for i, word := range words {
		if _, is := reports.WebAddress(word); is {
			words[i] = link(ShortLink(word), word)
		} else {
			words[i] = text(word)
		}
	}
	return strings.Join(words, " ")
}
