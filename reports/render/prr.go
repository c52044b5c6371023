package render

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/prr"
)

// PRR writes answers as Markdown under the headings of the KEP template, to be
// pasted into a KEP: under each question the answer, where it was tested, what cells
// show, and what is open. The steps of each cell come once, at the end. What is not
// in it is linked: readers have neither the reports nor the ledger.
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
	m.cellsDone(r)
	return m.writeTo(w, "the answers of a production readiness review")
}

func (m *markdown) sources(r prr.Result) {
	m.printf("Checks of %s judged what is said below on components that were compiled from their releases, "+
		"with skewrig's own fake container runtime and servers. The steps of each scenario are at the end. "+
		"What is under **Open** is left to a person.\n\n", link("skewrig", "https://"+reports.Repository))
	for _, left := range r.LeftOut {
		m.printf("- %s left out: %s\n", reports.Counted(len(left.Cells), "cell"), text(left.Why))
	}
	rows := reports.Each(r.Programs, func(p prr.Program) []string { return []string{code(p.Name), code(p.Version), code(p.Digest)} })
	m.printf("\n<details><summary>Binaries that ran</summary>\n\n")
	m.table(rows, "component", "version", "digest")
	m.printf("\n</details>\n")
}

func (m *markdown) gate(g prr.Gate) {
	m.printf("- [x] Feature gate (also fill in values in `kep.yaml`)\n")
	m.printf("  - Feature gate name: %s\n", code(g.Name))
	m.printf("  - Components depending on the feature gate: %s\n\n", text(strings.Join(g.Depend, ", ")))
}

// answer begins with the answer itself, and says where what it rests on was tested.
func (m *markdown) answer(a prr.Answer, r prr.Result) {
	answer := text(a.Answer)
	for _, word := range []string{"Yes.", "No.", "Open."} {
		if rest, begins := strings.CutPrefix(answer, word); begins {
			answer = "**" + word + "**" + rest
		}
	}
	m.printf("%s%s\n", answer, tested(a, r))
	m.listed("Shown", a.Statements, func(s prr.Statement) bool { return s.Says == prr.Holds }, m.shown)
	m.listed("Open", a.Statements, func(s prr.Statement) bool { return s.Says != prr.Holds || len(s.Also) > 0 }, m.open)
}

func (m *markdown) listed(title string, all []prr.Statement, is func(prr.Statement) bool, write func(prr.Statement)) {
	for _, s := range all {
		if !is(s) {
			continue
		}
		if title != "" {
			m.printf("\n**%s:**\n\n", title)
			title = ""
		}
		write(s)
	}
}

// tested names the releases and scenarios that the answer rests on: all that say
// something of the question, if the answer is open.
func tested(a prr.Answer, r prr.Result) string {
	open := strings.HasPrefix(a.Answer, "Open.")
	var releases, scenarios []string
	for _, s := range a.Statements {
		if !open && !s.Proves {
			continue
		}
		for _, ref := range s.Refs() {
			run, _ := newest(ref.Cell, r.Cells)
			releases = append(releases, releasesOf(*run, r.Gate.Depend)...)
			if named := scenario(*run, r); !slices.Contains(scenarios, named) {
				scenarios = append(scenarios, named)
			}
		}
	}
	if len(scenarios) == 0 {
		return ""
	}
	slices.SortFunc(releases, semver.Compare)
	return fmt.Sprintf(" Tested on %s: %s.", text(strings.Join(slices.Compact(releases), ", ")), strings.Join(scenarios, ", "))
}

// releasesOf are those of the components that have the feature.
func releasesOf(c prr.Cell, depend []string) []string {
	releases := []string{c.Release}
	for _, component := range c.Facts.Components {
		if !slices.Contains(depend, component.Program()) {
			continue
		}
		for _, s := range component.Starts {
			releases = append(releases, s.Version)
		}
	}
	return releases
}

// scenario links the file of a cell's scenario as the program had it that ran the
// cell, if that is known.
func scenario(c prr.Cell, r prr.Result) string {
	if c.File == "" {
		return code(c.Cell)
	}
	revision := ""
	for _, report := range r.Reports {
		if report.Dir == c.Report {
			revision = reports.Revision(report.Skewrig)
		}
	}
	return link(strings.TrimSuffix(c.File, ".yaml"), "https://"+reports.Repository+"/blob/"+cmp.Or(revision, "main")+"/scenarios/catalog/"+c.File)
}

func (m *markdown) shown(s prr.Statement) {
	m.printf("- %s\n", text(s.Text))
	for _, f := range s.Findings {
		m.judged(f)
	}
}

func (m *markdown) open(s prr.Statement) {
	for _, also := range s.Also {
		m.printf("- For the authors: of “%s” the text also says the opposite: %s\n", text(s.Text), text(also))
	}
	switch s.Says {
	case prr.Holds:
		return
	case prr.ForPerson:
		m.printf("- For a person: %s %s\n", text(s.Text), text(s.Why))
	case prr.NotShown:
		m.printf("- No check proves or refutes this: %s %s\n", text(s.Text), text(s.Why))
	case prr.NotRun:
		m.printf("- No run has tested this yet: %s\n", text(s.Text))
		if s.Command != "" {
			m.printf("  This command tests it: %s\n", inCode(s.Command))
		}
	case prr.Ambiguous:
		m.printf("- The release does not do this: %s\n", text(s.Text))
	default:
		m.printf("- Does not hold: %s\n", text(s.Text))
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

func historyOf(c evidence.Component) string {
	var starts []string
	for _, s := range c.Starts {
		said := text(s.Release())
		gates := reports.Each(slices.Sorted(maps.Keys(s.Gates)), func(name string) string { return text(fmt.Sprintf("%s=%t", name, s.Gates[name])) })
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
func (m *markdown) cellsDone(r prr.Result) {
	for _, runs := range reports.Grouped(r.Cells, func(c prr.Cell) string { return c.Cell }) {
		run, n := newest(runs[0].Cell, runs)
		m.printf("\n<details><summary>Steps of %s</summary>\n\n", text(run.Cell))
		m.printf("%s: %s%s", scenario(*run, r), run.Outcome.Word(), on(run.Ref))
		if n > 1 {
			m.printf(" (the newest of %d runs)", n)
		}
		m.printf(". Reproduce: %s.", inCode(prr.Command(run.Cell)))
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
	lines := reports.Each(steps, func(step string) string { return shortened(step, maxDetail) })
	m.printf("\n%s\n", fenced("text", strings.Join(lines, "\n"), ""))
}

// inCode returns a command as code within a line. A command has no backquote.
func inCode(command string) string {
	if strings.Contains(command, "`") {
		return text(command)
	}
	return "`" + Printable(command) + "`"
}
