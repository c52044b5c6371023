package trend

import (
	"fmt"
	"io"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// Text writes a trend for people at a terminal. No text of a sweep can control the terminal.
func Text(w io.Writer, t Trend) error {
	var b strings.Builder
	fmt.Fprintf(&b, "From %s to %s\n", render.Line(t.From), render.Line(t.To))
	if len(t.Subject) > 0 {
		b.WriteString("\nDifferent subjects:\n")
	}
	for _, c := range t.Subject {
		fmt.Fprintf(&b, "  %s\n", c.Name)
		lines(&b, "    - ", c.Before)
		lines(&b, "    + ", c.After)
	}
	changes(&b, "new finding", t.New, "    ")
	changes(&b, "finding for more fields", t.More, "    + ")
	changes(&b, "finding gone", t.Gone, "    ")
	changes(&b, "finding for fewer fields", t.Fewer, "    - ")
	gates(&b, "Gates that are reached now", t.Reached)
	gates(&b, "Gates that are not reached any more", t.NotReached)
	fmt.Fprintf(&b, "\n%s\n", t.verdict())
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing a diff of sweeps: %w", err)
	}
	return nil
}

func changes(b *strings.Builder, what string, all []Change, lead string) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", render.Title(counted(len(all), what)))
	for _, c := range all {
		fmt.Fprintf(b, "  %s\n", render.Line(c.Signature))
		lines(b, lead, c.Fields)
	}
}

// counted puts the noun in the plural, and what is behind it not.
func counted(n int, what string) string {
	before, after, _ := strings.Cut(what, "finding")
	return strings.TrimRight(reports.Counted(n, before+"finding")+after, " ")
}

func gates(b *strings.Builder, title string, all []string) {
	if len(all) > 0 {
		fmt.Fprintf(b, "\n%s:\n", title)
		lines(b, "  ", all)
	}
}

func lines(b *strings.Builder, lead string, all []string) {
	for _, one := range all {
		fmt.Fprintf(b, "%s%s\n", lead, render.Line(one))
	}
}

// verdict says in a line what changed.
func (t Trend) verdict() string {
	var parts []string
	for _, of := range []struct {
		n    int
		what string
	}{{len(t.New), "new finding"}, {len(t.More), "finding for more fields"}, {len(t.Gone), "finding gone"}, {len(t.Fewer), "finding for fewer fields"}} {
		if of.n > 0 {
			parts = append(parts, counted(of.n, of.what))
		}
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
