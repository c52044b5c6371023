package show

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// Text writes a trend for people at a terminal. No text of a sweep can control the terminal.
func (t Trend) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "From %s to %s\n", render.Line(t.From), render.Line(t.To))
	if len(t.Subject) > 0 {
		b.WriteString("\nDifferent subjects:\n")
	}
	for _, c := range t.Subject {
		fmt.Fprintf(&b, "  %s\n", c.Name)
		writeLines(&b, "    - ", c.Before)
		writeLines(&b, "    + ", c.After)
	}
	for _, p := range t.parts() {
		fmt.Fprintf(&b, "\n%s:\n", render.Title(p.counted()))
		for _, c := range p.changes {
			fmt.Fprintf(&b, "  %s\n", render.Line(c.Signature))
			writeLines(&b, p.lead, c.Fields)
		}
	}
	writeGates(&b, "Gates that are reached now", t.Reached)
	writeGates(&b, "Gates that are not reached any more", t.NotReached)
	fmt.Fprintf(&b, "\n%s\n", t.verdict())
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing a diff of sweeps: %w", err)
	}
	return nil
}

// trendPart are changes of one sort. lead is before each field of them.
type trendPart struct {
	noun, more, lead string
	changes          []Change
}

// counted says how many they are: 2 findings for more fields.
func (p trendPart) counted() string { return reports.Counted(len(p.changes), p.noun) + p.more }

// parts are the changes, without sorts of which there are none.
func (t Trend) parts() []trendPart {
	all := []trendPart{
		{"new finding", "", "    ", t.New},
		{"finding", " for more fields", "    + ", t.More},
		{"finding", " gone", "    ", t.Gone},
		{"finding", " for fewer fields", "    - ", t.Fewer},
	}
	return slices.DeleteFunc(all, func(p trendPart) bool { return len(p.changes) == 0 })
}

func writeGates(b *strings.Builder, title string, all []string) {
	if len(all) > 0 {
		fmt.Fprintf(b, "\n%s:\n", title)
		writeLines(b, "  ", all)
	}
}

func writeLines(b *strings.Builder, lead string, all []string) {
	for _, one := range all {
		fmt.Fprintf(b, "%s%s\n", lead, render.Line(one))
	}
}

// verdict says in a line what changed.
func (t Trend) verdict() string {
	var parts []string
	for _, p := range t.parts() {
		parts = append(parts, p.counted())
	}
	if n := len(t.Reached) + len(t.NotReached); n > 0 {
		parts = append(parts, reports.Counted(n, "gate")+" reached in only one sweep")
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case len(t.Subject) > 0:
		return "Only the subjects differ"
	}
	return "Nothing changed"
}
