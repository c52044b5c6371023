package render

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/prr"
)

// PRR writes answers as Markdown under the headings of the KEP template, to be
// pasted into a KEP: under each question what cells show, what was done in them,
// and what is left open. The steps of each cell come once, at the end.
func PRR(w io.Writer, r prr.Result) error {
	var m markdown
	m.printf("## %s\n\n", prr.Title)
	m.sources(r)
	section := ""
	for _, a := range r.Answers {
		if a.Section != section {
			section = a.Section
			m.printf("\n### %s\n", section)
		}
		m.printf("\n###### %s\n\n", a.Question)
		if a.Question == prr.Enablement {
			m.gate(r.Gate)
		}
		m.answer(a, r)
	}
	m.cellsDone(r.Cells)
	return m.writeTo(w, "the answers of a production readiness review")
}

func (m *markdown) sources(r prr.Result) {
	m.printf("Checks of skewrig judged each statement below on components that were compiled from their releases, " +
		"with skewrig's own fake container runtime and servers. A statement names its cells; their steps are in the appendix. " +
		"A person has to answer what is marked **Open**.\n\n")
	for _, report := range r.Reports {
		m.printf("- Report %s, made by %s (skewrig %s)\n", code(report.Dir), code(report.Command), text(report.Skewrig))
	}
	for _, left := range r.LeftOut {
		m.printf("- %s left out: %s\n", reports.Counted(len(left.Cells), "cell"), text(left.Why))
	}
	rows := rowsOf(r.Programs, func(p prr.Program) []string { return []string{code(p.Name), code(p.Version), code(p.Digest)} })
	m.printf("\n<details><summary>Binaries that ran</summary>\n\n")
	m.table(rows, "component", "version", "digest")
	m.printf("\n</details>\n")
}

func (m *markdown) gate(g prr.Gate) {
	m.printf("- [x] Feature gate (also fill in values in `kep.yaml`)\n")
	m.printf("  - Feature gate name: %s\n", code(g.Name))
	m.printf("  - Components depending on the feature gate: %s\n\n", text(strings.Join(g.Depend, ", ")))
	m.printf("The runs of the cells in the appendix set it to true in %d, and to false in %d.\n\n", g.On, g.Off)
}

func (m *markdown) answer(a prr.Answer, r prr.Result) {
	if len(a.Statements) == 0 {
		m.printf("**Open:** no requirement of the ledger answers this.\n")
	}
	var named []string
	for _, s := range a.Statements {
		m.statement(s)
		for _, ref := range s.Refs() {
			if !slices.Contains(named, ref.Cell) {
				named = append(named, ref.Cell)
			}
		}
	}
	if len(named) == 0 {
		return
	}
	m.printf("\nSteps:\n\n")
	slices.Sort(named)
	for _, id := range named {
		m.done(id, r)
	}
	var sources evidence.Sources
	for _, report := range r.Reports {
		sources = append(sources, report.Dir, report.Command)
	}
	m.printf("\nReproduce:\n\n%s\n", fenced("sh", sources.Command(named...), ""))
}

func (m *markdown) statement(s prr.Statement) {
	id := ""
	if s.ID != "" {
		id = " (" + code(s.ID) + ")"
	}
	switch s.Says {
	case prr.ForPerson:
		m.printf("- **Open**, for a person: %s%s %s\n", text(s.Text), id, text(s.Why))
	case prr.NotShown:
		m.printf("- **Open:** no check proves or refutes this: %s%s %s\n", text(s.Text), id, text(s.Why))
	case prr.NotRun:
		m.printf("- **Open:** no run has tested this yet: %s%s\n", text(s.Text), id)
		if s.Command != "" {
			m.printf("  This command tests it: %s\n", inCode(s.Command))
		}
	case prr.Ambiguous:
		m.printf("- **Open**, for the authors, since the text also says the opposite: %s%s\n", text(s.Text), id)
	case prr.DoesNotHold:
		m.printf("- **Does not hold:** %s%s\n", text(s.Text), id)
	default:
		m.printf("- Holds: %s%s\n", text(s.Text), id)
	}
	for _, f := range s.Findings {
		m.judged(f)
	}
}

// judged says what cells say of a statement: those against it check by check.
func (m *markdown) judged(f evidence.Finding) {
	m.contradicting("contradicted by", f.Against)
	m.contradicting("not so in", f.Ambiguous)
	var unjudged []string
	for _, u := range f.Unjudged {
		if said := code(u.Cell) + ": " + text(u.Reason); !slices.Contains(unjudged, said) {
			unjudged = append(unjudged, said)
			m.printf("  - not judged: %s\n", said)
		}
	}
	if f.Checks == 0 {
		return
	}
	var in []string
	for _, ref := range f.In {
		if said := code(ref.Cell); !slices.Contains(in, said) {
			in = append(in, said)
		}
	}
	m.printf("  - %s held in %s\n", reports.Counted(f.Checks, "check"), strings.Join(in, ", "))
}

// contradicting lists checks that did not hold.
func (m *markdown) contradicting(how string, all []evidence.Contradiction) {
	for _, g := range grouped(all) {
		m.printf("  - %s: %s, check %s on %s: expected %s; observed %s", how, code(g.Cell), code(g.Check), text(g.Release), text(g.Expected), text(cmp.Or(g.Observed, "-")))
		if g.Reason != "" {
			m.printf(" (%s)", text(g.Reason))
		}
		m.printf("\n")
	}
}

func newest(id string, cells []prr.Cell) (run *prr.Cell, runs int) {
	for i, c := range cells {
		if c.Cell == id {
			runs++
			if run == nil || c.Started.After(run.Started) {
				run = &cells[i]
			}
		}
	}
	return run, runs
}

// done says in a line what ran in a cell: the components that have the feature,
// and those that changed.
func (m *markdown) done(id string, r prr.Result) {
	run, runs := newest(id, r.Cells)
	if run == nil {
		return
	}
	m.printf("- %s, %s%s", code(id), run.Outcome, on(run.Ref))
	if runs > 1 {
		m.printf(" (the newest of %d runs)", runs)
	}
	var history []string
	for _, c := range run.Facts.Components {
		if program, _, _ := strings.Cut(c.Name, "/"); len(c.Starts) > 1 || slices.Contains(r.Gate.Depend, program) {
			history = append(history, historyOf(c))
		}
	}
	if len(history) > 0 {
		m.printf(": %s", strings.Join(history, "; "))
	}
	m.printf("\n")
}

func historyOf(c evidence.Component) string {
	var starts []string
	for _, s := range c.Starts {
		said := text(s.Version)
		var gates []string
		for _, name := range slices.Sorted(maps.Keys(s.Gates)) {
			gates = append(gates, text(fmt.Sprintf("%s=%t", name, s.Gates[name])))
		}
		if len(gates) > 0 {
			said += " (" + strings.Join(gates, ", ") + ")"
		}
		starts = append(starts, said)
	}
	return text(c.Name) + " " + strings.Join(starts, " → ")
}

func sent(t evidence.Traffic) string {
	said := ""
	if t.Connections > 0 {
		said += fmt.Sprintf(" %s to %s, with %s in them.", reports.Counted(t.Connections, "connection"), reports.Counted(t.Containers, "container"), reports.Counted(t.Requests, "request"))
	}
	if t.APICalls > 0 {
		said += fmt.Sprintf(" The steps made %s to the API server.", reports.Counted(t.APICalls, "request"))
	}
	if t.PodsAPIAnswers > 0 {
		said += fmt.Sprintf(" %s of the Pods API recorded.", reports.Counted(t.PodsAPIAnswers, "answer"))
	}
	return said
}

// cellsDone says of each cell, once, what was done in its newest run.
func (m *markdown) cellsDone(cells []prr.Cell) {
	for _, runs := range reports.Grouped(cells, func(c prr.Cell) string { return c.Cell }) {
		run, _ := newest(runs[0].Cell, runs)
		m.printf("\n<details><summary>Steps of %s</summary>\n\n", text(run.Cell))
		m.printf("%s%s, from %s.", capitalized(string(run.Outcome)), on(run.Ref), code(run.Path))
		if len(run.Facts.Components) == 0 {
			m.printf(" Its record is missing.\n\n</details>\n")
			continue
		}
		m.printf("%s\n\n", sent(run.Facts.Traffic))
		for _, component := range run.Facts.Components {
			m.printf("- %s\n", historyOf(component))
		}
		m.stepsOf(run.Facts.Steps)
		m.printf("\n</details>\n")
	}
}

func (m *markdown) stepsOf(steps []string) {
	if len(steps) == 0 {
		return
	}
	var lines []string
	for _, step := range steps {
		lines = append(lines, shortened(step, maxDetail))
	}
	m.printf("\n%s\n", fenced("text", strings.Join(lines, "\n"), ""))
}

// inCode returns a command as code within a line. A command has no backquote.
func inCode(command string) string {
	if strings.Contains(command, "`") {
		return text(command)
	}
	return "`" + Printable(command) + "`"
}
