package show

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Draft is the draft of an issue about a finding: a bug report in the form that kubernetes/kubernetes asks for. It says
// what was seen, and nothing of why.
type Draft struct {
	Finding trial.Finding
	Version release.Version
	// Cases are objects that show it, the first of which is described without skewrig. If unset, the finding is of no
	// object.
	Cases []Case
	// Again is the command of the sweep.
	Again string
}

// Case is an object that shows a finding.
type Case struct {
	trial.Found

	// Alone is what its scenario has of a plan.
	Alone trial.Setting
	// Scenario and Control are the files that show it, and that nothing is seen if nothing is changed. If unset, there
	// are none.
	Scenario, Control string
}

// Write writes the draft as Markdown. Its first line is the title.
func (d Draft) Write(w io.Writer) error {
	steps, err := d.reproduce()
	if err != nil {
		return err
	}
	report := render.BugReport{
		Title: d.title(), Happened: d.happened(), Expected: d.expected(), Reproduce: steps, Background: d.background(),
		Version: render.MarkdownBlock("console", string(d.Version)),
	}
	return writeDraft(w, report)
}

func writeDraft(w io.Writer, report render.BugReport) error {
	if _, err := io.WriteString(w, report.Markdown()); err != nil {
		return fmt.Errorf("writing the draft of an issue: %w", err)
	}
	return nil
}

func (d Draft) title() string {
	kinds := distinct(d.Finding.Items, func(f trial.Found) []string { return []string{f.Kind} })
	if len(kinds) == 0 {
		return d.Finding.Signature()
	}
	with := "with fields of"
	if !slices.ContainsFunc(d.Finding.Items, func(f trial.Found) bool { return !f.IsControl() }) {
		with = "without a gated field, with"
	}
	gates := distinct(d.Finding.Items, trial.Found.Takes)
	return fmt.Sprintf("%s %s %s, %s", strings.Join(kinds, ", "), with, strings.Join(gates, ", "), d.Finding.Signature())
}

// happened says what was seen of which objects.
func (d Draft) happened() string {
	var b strings.Builder
	transitions := distinct(d.Finding.Items, trial.Found.Transitions)
	fmt.Fprintf(&b, "%s. It was seen while something changed: %s.\n\n", render.MarkdownText(d.Finding.Title()), render.MarkdownText(strings.Join(transitions, "; ")))
	if !d.confirmed() {
		b.WriteString("**Not confirmed.** It was not seen again each time with the gates of the field alone, or was not looked for again.\n\n")
	}
	var rows [][]string
	for _, i := range d.Finding.Items {
		if !i.HasItem() {
			fmt.Fprintf(&b, "%s\n", render.MarkdownBlock("console", i.Detail))
			continue
		}
		rows = append(rows, []string{
			render.MarkdownText(i.Kind), render.MarkdownText(strings.Join(i.FieldNames(), ", ")), render.MarkdownText(strings.Join(i.Takes(), ", ")),
			i.Alone.String(), i.Control.String(), render.MarkdownText(i.Detail),
		})
	}
	if len(rows) > 0 { // writing to a strings.Builder cannot fail
		_ = render.MarkdownTable(&b, rows, "kind", "fields", "gates", "with the gates alone", "control", "what was seen")
	}
	if gates := distinct(d.Finding.Items, d.onByDefault); len(gates) > 0 {
		fmt.Fprintf(&b, "\nOn by default in %s: %s.\n", d.Version, render.MarkdownText(strings.Join(gates, ", ")))
	}
	return b.String()
}

// onByDefault are the gates of an item that are on by default, in the release with which it is created.
func (d Draft) onByDefault(found trial.Found) []string {
	return slices.DeleteFunc(found.AllGates(), func(gate string) bool {
		return !release.On(release.Effective{Version: d.Version}, nil, gate)
	})
}

// confirmed reports whether each object showed it again.
func (d Draft) confirmed() bool {
	return !slices.ContainsFunc(d.Finding.Items, func(f trial.Found) bool { return !f.Confirmed() })
}

func (d Draft) expected() string {
	if l, is := law.Named(d.Finding.What); is {
		return fmt.Sprintf("%s (%s)\n", render.MarkdownText(l.Statement), render.MarkdownText(l.Source))
	}
	return "No component panics or ends by itself.\n"
}

// background says how it was found, and looked for again.
func (d Draft) background() string {
	var b strings.Builder
	for _, issue := range d.Finding.Issues() {
		fmt.Fprintf(&b, "- This is known as %s.\n", issue)
	}
	if slices.ContainsFunc(d.Finding.Items, func(f trial.Found) bool { return f.Alone != nil }) {
		b.WriteString("- Of each set of gates, one object was looked for again: in a scenario in which only the gates of its fields are on first, and in a control in which nothing changes. The table says how many runs of these were red.\n")
	}
	fmt.Fprintf(&b, "- It was found by `skewrig sweep`, which turns gates off, or changes releases, while objects use what gates guard:\n\n%s\n", render.MarkdownBlock("sh", d.Again))
	return b.String()
}

// distinct are the words that items have, sorted.
func distinct(items []trial.Found, of func(trial.Found) []string) (all []string) {
	for _, i := range items {
		all = append(all, of(i)...)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" })
}
