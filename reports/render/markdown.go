package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// Markdown writes the report for people, as GitHub renders it: the counts,
// what needs attention, what holds everywhere, what ran on what, every cell, every requirement, and
// how to do it again.
func Markdown(w io.Writer, r reports.Report) error {
	var m markdown
	m.summary(r)
	m.attention(r)
	m.worst(r)
	m.ran(r.Reproduce)
	m.cells(r.Cells)
	m.repeated(r.Cells)
	m.leases(r.Cells)
	m.requirements(r.Requirements)
	m.reproduce(r.Reproduce)
	return m.writeTo(w, "a report as Markdown")
}

type markdown struct{ gathered }

// table writes a table, or instead says that there is nothing.
func (m *markdown) table(rows [][]string, header ...string) {
	if len(rows) == 0 {
		m.printf("None.\n")
		return
	}
	m.head(header)
	for _, row := range rows {
		m.printf("| %s |\n", strings.Join(row, " | "))
	}
}

func (m *markdown) head(header []string) {
	m.printf("| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat(" --- |", len(header)))
}

func (m *markdown) summary(r reports.Report) {
	m.printf("# Conformance report\n\n**%s.** %s.\n", Verdict(r), reports.HeadlineOf(r))
	m.reproduced(r)
	if r.Partial != "" {
		m.printf("\n**Partial:** %s\n", text(r.Partial))
	}
	if len(r.Problems) > 0 {
		m.printf("\n%s with the run as a whole, below.\n", reports.Counted(len(r.Problems), "problem"))
	}
	var rows [][]string
	for _, o := range severestFirst() {
		if n := r.Summary.Outcomes[o]; n > 0 {
			rows = append(rows, []string{o.Word(), fmt.Sprint(n), o.Meaning()})
		}
	}
	if len(rows) > 0 {
		m.printf("\n")
		m.table(rows, "outcome", "cells", "meaning")
	}
}

// reproduced lists the known bugs that cells show as recorded.
func (m *markdown) reproduced(r reports.Report) {
	for _, bug := range Reproductions(r) {
		m.printf("\n- %s", text(bug.Said))
		for _, c := range bug.Cells {
			m.printf(" %s", code(c.ID))
		}
		m.printf(" %s\n", text(bug.Link))
	}
}

func (m *markdown) attention(r reports.Report) {
	m.printf("\n## What needs attention\n\n")
	quiet := true
	for _, problem := range r.Problems {
		quiet = false
		m.printf("- **problem:** %s\n", text(problem))
	}
	for _, c := range r.Cells {
		if c.Outcome.Expected() {
			continue
		}
		if !quiet {
			m.printf("\n")
		}
		quiet = false
		m.attentionTo(c)
	}
	if quiet {
		m.printf("%s.\n", Verdict(r))
	}
}

func (m *markdown) attentionTo(c reports.Cell) {
	m.printf("### %s: %s\n\n", code(c.ID), c.Outcome.Word())
	if c.Reason != "" {
		m.printf("Reason: %s\n\n", text(c.Reason))
	}
	if said := standIns(c); said != "" {
		m.printf("%s\n\n", text(reports.Capitalize(said)))
	}
	var rows [][]string
	for _, check := range c.Checks {
		if !check.Outcome.Expected() {
			rows = append(rows, []string{
				code(check.ID), code(check.Requirement), check.Outcome.Word(),
				text(check.Expected), text(check.Observed), text(check.Reason),
			})
		}
	}
	if len(rows) == 0 {
		m.printf("No check was judged.\n")
	} else {
		m.table(rows, "check", "requirement", "outcome", "expected", "observed", "reason")
	}
}

// worst counts, of each enhancement and release, the statements that hold wherever they
// have to.
func (m *markdown) worst(r reports.Report) {
	rows := reports.Each(reports.WorstCases(r), func(w reports.WorstCase) []string {
		return []string{text(w.KEP), text(cmp.Or(w.Release, "all")), fmt.Sprintf("%d of %d", w.Proved, w.Of), text(w.KeptBy())}
	})
	if len(rows) > 0 {
		m.printf("\n## Statements proved in every supported skew cell\n\n")
		m.table(rows, "enhancement", "release", "proved", "open because of")
	}
}

func (m *markdown) ran(reproduce reports.Reproduce) {
	m.printf("\n## Environment\n\n")
	m.table(reports.Each(reproduce.Components, componentRow), "component", "version", "source", "digest")
	host := reproduce.Host
	m.printf("\nskewrig %s, built with %s, seed %d.\n", text(reproduce.Skewrig), text(reproduce.Go), reproduce.Seed)
	if host != (reports.Host{}) {
		m.printf("Host: %s/%s, %s, %.1f GiB of memory, kernel %s.\n",
			text(host.OS), text(host.Arch), reports.Counted(host.CPUs, "CPU"), float64(host.MemoryBytes)/(1<<30), text(host.Kernel))
	}
}

func componentRow(c reports.Component) []string {
	source := c.Source
	if c.Go != "" {
		source += ", " + c.Go
	}
	return []string{code(c.Name), code(c.Version), code(source), code(c.Digest)}
}

func (m *markdown) cells(cells []reports.Cell) {
	m.printf("\n## Cells\n\n")
	rows := reports.Each(cells, func(c reports.Cell) []string {
		return []string{code(c.ID), c.Outcome.Word(), Took(c.DurationSeconds), text(shortened(c.Reason, maxReason))}
	})
	m.table(rows, "cell", "outcome", "took", "reason")
}

// repeated says of the cells that ran several times how often they failed, and
// where good and bad runs first differ.
func (m *markdown) repeated(cells []reports.Cell) {
	var rows [][]string
	for _, c := range cells {
		if len(c.Runs) == 0 {
			continue
		}
		runs := reports.Each(c.Runs, func(run reports.Run) string { return fmt.Sprintf("%d %s", run.Number, run.Outcome.Word()) })
		var rate, differs string
		if c.Rate != (reports.Rate{}) {
			rate = text(c.Rate.String())
		}
		if c.Differs != (reports.Difference{}) {
			differs = text(c.Differs.String())
		}
		rows = append(rows, []string{code(c.ID), strings.Join(runs, "<br>"), rate, differs})
	}
	if len(rows) > 0 {
		m.printf("\n## Repeated\n\n")
		m.table(rows, "cell", "runs", "failed in", "where good and bad runs first differ")
	}
}

// leases shows how old the leases of simulated nodes got.
func (m *markdown) leases(cells []reports.Cell) {
	var rows [][]string
	for _, c := range cells {
		for _, l := range c.Leases {
			rows = append(rows, []string{code(c.ID), code(l.Zone), fmt.Sprint(l.Nodes), l.Sparkline(), fmt.Sprintf("%.1f s", l.Highest())})
		}
	}
	if len(rows) > 0 {
		m.printf("\n## Leases\n\nThe age of the oldest lease of each zone, from the beginning of the run to its end.\n\n")
		m.table(rows, "cell", "zone", "nodes", "age of the oldest lease", "highest")
	}
}

func (m *markdown) requirements(requirements []reports.Requirement) {
	m.printf("\n## Requirements\n\n")
	rows := reports.Each(requirements, func(q reports.Requirement) []string {
		return []string{
			code(q.ID), q.Outcome.Word(), fmt.Sprint(len(q.Cells)),
			text(q.Level), text(q.Stage), text(q.Statement), link("source", q.Source),
		}
	})
	m.table(rows, "requirement", "outcome", "cells", "level", "stage", "statement", "source")
}

func (m *markdown) reproduce(reproduce reports.Reproduce) {
	// Not bounded: half a command reproduces nothing.
	m.printf("\n## How to reproduce\n\n%s\n", fenced("sh", reports.Again(reproduce.Command), ""))
}

// text escapes a text of bounded length so that a renderer shows it unchanged, also in a
// table, and finds no markup, no HTML and no mention of a user in it. Pipes and
// backslashes are written as entities because a table is cut at its pipes before
// anything else is looked at, and renderers disagree about backslashes there.
func text(s string) string {
	escaped := lines(s)
	for i, line := range escaped {
		escaped[i] = markdownEscapes.Replace(line)
	}
	return strings.Join(escaped, "<br>")
}

var markdownEscapes = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", `\`, "&#92;",
	"`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`, "$", `\$`,
	// A comment ends a mention before the name.
	"@", "@<!-- -->",
)

// code returns s as code if it is made of harmless characters only, as ids are,
// and escapes it as text otherwise.
func code(s string) string {
	if s == "" {
		return ""
	}
	harmless := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.,:+=@~/# ", r)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !harmless(r) }) {
		return text(s)
	}
	return "`" + shortened(s, maxText) + "`"
}

// link returns a link to a web page, and the address as text if it is not one.
func link(label, address string) string {
	if _, is := reports.WebAddress(address); !is {
		return text(address)
	}
	return fmt.Sprintf("[%s](%s)", text(label), bareLink(address))
}

// bareLink returns a web address without a label: GitHub shows the lines of code behind it.
func bareLink(address string) string {
	u, is := reports.WebAddress(address)
	if !is {
		return text(address)
	}
	return linkEscapes.Replace(u.String())
}

// linkEscapes replace what ends a link, or a row of a table.
var linkEscapes = strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "|", "%7C", `\`, "%5C", "`", "%60", " ", "%20", "\n", "%0A")
