// Package show writes the answers of proposals for people and programs: a terminal, Markdown, a page, JSON and a badge. The writers
// are pure, and escape names and texts.
package show

import (
	_ "embed"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/keps"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/prr"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/reports/static"
)

// The files of the directory of answers.
const (
	JSONFile  = "answers.json"
	PageFile  = "index.html"
	BadgeFile = "badge.json"
	Answers   = "answers" // a file for each proposal
)

// File is the file of a proposal in Markdown.
func File(r keps.Result) string { return path.Join(Answers, strings.ToLower(r.ID())+".md") }

// PageOf is the page of a proposal.
func PageOf(r keps.Result) string { return path.Join(Answers, strings.ToLower(r.ID())+".html") }

// Milestone is the answers of some proposals.
type Milestone struct {
	// Name is the milestone. If unset, single proposals were asked for.
	Name string `json:"milestone,omitempty"`
	// Release is what ran, and Before the release to which it was rolled back.
	Release release.Version `json:"release"`
	Before  release.Version `json:"before"`
	// Shard is the part of the sweeps that ran. If unset, all did.
	Shard   reports.Shard `json:"shard,omitzero"`
	Results []keps.Result `json:"results"`
	// Changes are the verdicts that an earlier run had otherwise. If unset, there are none, or there was no such run.
	Changes []keps.Change `json:"changes,omitempty"`
}

// tried are the proposals of which something was tried.
func (m Milestone) tried() []keps.Result {
	return reports.Only(m.Results, func(r keps.Result) bool { return r.Why == "" })
}

// Answered is how many of the proposals that a rig can try have an answer to a question.
func (m Milestone) Answered(question string) string {
	return fmt.Sprintf("%d of %d", keps.Count(m.tried(), question, keps.Shown, keps.Partly, keps.Contradicted), len(m.tried()))
}

// Badge is an endpoint of shields.io.
func (m Milestone) Badge() map[string]any {
	color, wrong := "brightgreen", keps.Count(m.Results, prr.Disabled, keps.Contradicted)+keps.Count(m.Results, prr.Upgrades, keps.Contradicted)
	if wrong > 0 {
		color = "red"
	}
	return map[string]any{"schemaVersion": 1, "label": strings.TrimSpace("rollback tried " + m.Name), "message": m.Answered(prr.Upgrades), "color": color}
}

// Text writes the answers for a terminal.
func (m Milestone) Text(w io.Writer) {
	for _, r := range m.Results {
		fmt.Fprintf(w, "%s: %s\n", r.ID(), r.Title)
		if r.Why != "" {
			fmt.Fprintf(w, "  not tried: %s\n", r.Why)
			continue
		}
		for _, a := range r.Answers {
			if a.Verdict == keps.NotTried && len(m.Results) > 1 {
				continue
			}
			fmt.Fprintf(w, "  %-12s %s\n", a.Verdict, a.Question)
			for _, f := range a.Findings {
				fmt.Fprintf(w, "      %s\n", f)
			}
			if a.Beside != "" {
				fmt.Fprintf(w, "      %s\n", a.Beside)
			}
			if a.Ledger.Differs {
				fmt.Fprintf(w, "      ledger and run differ: %s\n", ledger(a.Ledger))
			}
		}
	}
	fmt.Fprintf(w, "\n%s, %d of which a rig can try. Answered: disabling %s, upgrade and rollback %s\n",
		reports.Counted(len(m.Results), "proposal"), len(m.tried()), m.Answered(prr.Disabled), m.Answered(prr.Upgrades))
	for _, c := range m.Changes {
		fmt.Fprintf(w, "%s: %s: %s before, %s now\n", c.KEP, c.Question, c.Was, c.Is)
	}
}

// Markdown writes the questionnaire of a proposal with the answers, and a draft of what its owners could add.
func (m Milestone) Markdown(w io.Writer, r keps.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n", r.ID(), render.MarkdownText(r.Title))
	fmt.Fprintf(&b, "Tried on %s, and rolled back to %s. A run answers what it shows, and nothing else.\n", m.Release, m.Before)
	if r.Why != "" {
		fmt.Fprintf(&b, "\nNothing was tried: %s.\n", render.MarkdownText(r.Why))
		_, err := io.WriteString(w, b.String())
		return err
	}
	section := ""
	for _, a := range r.Answers {
		if a.Section != section {
			section = a.Section
			fmt.Fprintf(&b, "\n## %s\n", section)
		}
		fmt.Fprintf(&b, "\n### %s\n\n**%s**. %s\n", a.Question, a.Verdict, render.MarkdownText(strings.Join(a.Sentences, " ")))
		for _, f := range a.Findings {
			fmt.Fprintf(&b, "- %s\n", render.MarkdownText(f.String()))
		}
		if a.Command != "" {
			fmt.Fprintf(&b, "\n%s", render.MarkdownBlock("sh", a.Command))
		}
		if a.Beside != "" {
			fmt.Fprintf(&b, "\n%s", render.MarkdownText(strings.ToUpper(string(a.Beside)[:1])+string(a.Beside)[1:]))
			if a.Written.Line > 0 {
				fmt.Fprintf(&b, " (%s/README.md, line %d)", r.Dir, a.Written.Line)
			}
			b.WriteString(".\n")
		}
		if a.Ledger.Answer != "" {
			fmt.Fprintf(&b, "\nThe ledger: %s\n", render.MarkdownText(ledger(a.Ledger)))
		}
	}
	b.WriteString("\n## Criteria that recur\n\n")
	var rows [][]string
	for _, c := range r.Criteria() {
		rows = append(rows, []string{c.Text, string(c.Verdict)})
	}
	if err := render.MarkdownTable(&b, rows, "criterion", "verdict"); err != nil {
		return err
	}
	draft(&b, r)
	_, err := io.WriteString(w, b.String())
	return err
}

// ledger is the answer of a ledger, with how many of its statements cells show and contradict.
func ledger(l keps.Ledger) string {
	counts := fmt.Sprintf("%s shown, %d contradicted", reports.Counted(len(l.Holds), "statement"), len(l.Fails))
	if len(l.Fails) > 0 {
		counts += ": " + strings.Join(l.Fails, ", ")
	}
	return l.Answer + " (" + counts + ")"
}

// draft is a text for a pull request to the proposal: the answers that it lacks, or has otherwise.
func draft(b *strings.Builder, r keps.Result) {
	for n, text := range Draft(r) {
		if n == 0 {
			b.WriteString("\n## Draft for the proposal\n\n")
		}
		fmt.Fprintf(b, "%s\n", render.MarkdownBlock("markdown", text))
	}
}

// Draft are the answers that a proposal lacks, or has otherwise, in Markdown.
func Draft(r keps.Result) []string {
	return reports.Each(r.Rows(), func(a keps.Answer) string {
		text := "###### " + a.Question + "\n\n" + strings.Join(a.Sentences, " ")
		if a.Command != "" {
			text += " (`" + a.Command + "`)"
		}
		return text
	})
}

var (
	//go:embed page.html
	pageText string
	//go:embed kep.html
	kepText string

	pageTemplate = static.Parse(pageText)
	kepTemplate  = static.Parse(kepText)
)

// pageView is the content of the page.
type pageView struct {
	Milestone
	static.Head

	Questions []string
	Tried     int
}

// Page writes the milestone as one HTML file without script: proposals and questions, the worst first.
func (m Milestone) Page(w io.Writer) error {
	v := pageView{Milestone: m, Head: static.NewHead(), Tried: len(m.tried())}
	for _, s := range prr.Questionnaire() {
		for _, q := range s.Questions {
			if len(v.Results) > 0 && keps.Count(m.tried(), q, keps.NotTried) < v.Tried {
				v.Questions = append(v.Questions, q)
			}
		}
	}
	return static.Write(w, pageTemplate, v)
}

// Heading is the beginning of the page.
func (v pageView) Heading() string {
	return strings.TrimSpace("Answers of enhancements " + v.Name)
}

// Link is where the page finds a proposal.
func (pageView) Link(r keps.Result) string { return PageOf(r) }

// Count is how many of the proposals that a rig can try have a verdict.
func (v pageView) Count(question string, verdict keps.Verdict) int {
	return keps.Count(v.tried(), question, verdict)
}

// Verdicts are all, the worst first.
func (pageView) Verdicts() []keps.Verdict { return keps.Verdicts() }

// kepView is the content of the page of a proposal.
type kepView struct {
	Milestone
	static.Head
	keps.Result
}

// Proposal writes the page of a proposal, which has what Markdown has, with links to the findings of the sweeps.
func (m Milestone) Proposal(w io.Writer, r keps.Result) error {
	return static.Write(w, kepTemplate, kepView{m, static.NewHead(), r})
}

// Link is where the page finds a finding.
func (kepView) Link(f keps.Finding) string { return path.Join("..", f.Sweep, PageFile) + "#" + f.ID }

// Said is the answer of a ledger.
func (kepView) Said(l keps.Ledger) string { return ledger(l) }

// Draft is a text for the proposal.
func (v kepView) Draft() []string { return Draft(v.Result) }
