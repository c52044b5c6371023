// Package junit writes what a sweep came to as a JUnit file, for continuous integration.
package junit

import (
	"fmt"
	"io"
	"strings"

	"github.com/skewrig/skewrig/reports/junit"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Write writes a test suite for each change, with a test case for each gate. A case fails if something was found with its
// gate, and is skipped if nothing of its gate was tried. What a component shows without an object is a case of its own.
// Findings that are known or not confirmed do not fail: they are in the output of the suite, as the exit code has it.
func Write(w io.Writer, s trial.Swept) error {
	var out junit.File
	for n, m := range s.Matrices() {
		out.Suites = append(out.Suites, suite(n, s, m))
	}
	if err := out.Write(w); err != nil {
		return fmt.Errorf("writing a sweep as JUnit: %w", err)
	}
	return nil
}

func suite(id int, s trial.Swept, m trial.Matrix) junit.Suite {
	out := junit.NewSuite(id, render.Line(m.Turn))
	out.Properties = []junit.Property{
		{Name: "version", Value: string(s.Version)}, {Name: "seed", Value: fmt.Sprint(s.Seed)}, {Name: "command", Value: render.Line(s.Again())},
	}
	for _, row := range m.Rows {
		out.Add(gateCase(s, m.Turn, row))
	}
	for _, f := range s.Findings {
		if alone := f.WithoutItem(m.Turn); len(alone.Items) > 0 {
			out.Add(newCase(m.Turn, f.Signature(), failure([]trial.Finding{alone})))
		}
	}
	out.Time = junit.Seconds(took(s, m.Turn))
	out.SystemOut = quiet(s, m)
	return out
}

// gateCase is the test case of a gate.
func gateCase(s trial.Swept, turn string, row trial.Row) junit.Case {
	if row.Why != "" {
		c := newCase(turn, row.Gate, nil)
		c.Skipped = &junit.Result{Message: render.Line(row.Why), Type: "not-tried"}
		return c
	}
	var found []trial.Finding
	for _, f := range s.Findings {
		if of := f.Of(turn, row.Gate); len(of.Items) > 0 {
			found = append(found, of)
		}
	}
	return newCase(turn, row.Gate, failure(found))
}

func newCase(turn, name string, failed *junit.Result) junit.Case {
	return junit.Case{Name: render.Line(name), Classname: render.Line("sweep." + turn), Time: junit.Seconds(0), Failure: failed}
}

// failure is what findings say, or nil if there are none.
func failure(found []trial.Finding) *junit.Result {
	if len(found) == 0 {
		return nil
	}
	var signatures []string
	var text strings.Builder
	for _, f := range found {
		signatures = append(signatures, f.Signature())
		fmt.Fprintf(&text, "%s\n", render.Visible(f.Signature()))
		for _, i := range f.Items {
			text.WriteString(item(i))
		}
	}
	return &junit.Result{Message: render.Line(strings.Join(signatures, "; ")), Type: "finding", Text: junit.Text(text.String())}
}

func item(i trial.Found) string {
	detail := strings.ReplaceAll(render.Visible(i.Detail), "\n", "\n    ")
	if !i.HasItem() {
		return "  " + detail + "\n"
	}
	return fmt.Sprintf("  %s: %s\n    alone: %s; control: %s\n", render.Line(i.String()), detail, i.Alone, i.Control)
}

// took is how long the plans with a change took.
func took(s trial.Swept, turn string) (seconds float64) {
	for _, p := range s.Plans {
		if p.Turn.String() == turn {
			seconds += p.Seconds
		}
	}
	return seconds
}

// quiet lists what was seen with a change and fails no test case.
func quiet(s trial.Swept, m trial.Matrix) string {
	var b strings.Builder
	for _, l := range s.All() {
		if l.Standing == trial.Reported {
			continue
		}
		for _, i := range l.During(m.Turn).Items {
			fmt.Fprintf(&b, "%s: %s\n%s", l.Standing, render.Visible(l.Signature()), item(i))
		}
	}
	return b.String()
}
