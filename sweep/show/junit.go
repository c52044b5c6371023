package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/skewrig/skewrig/reports/junit"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/sweep/trial"
)

// JUnit writes a sweep as a JUnit file: a test suite for each change, with a test case for each gate. A case fails if
// something was found with its gate, and is skipped if nothing of its gate was tried. What a component shows without an
// object is a case of its own. Findings that are known or not confirmed do not fail, as with the exit code: they are in
// the output of the suite.
func JUnit(w io.Writer, s trial.Result) error {
	var out junit.File
	for n, m := range s.Matrices() {
		out.Suites = append(out.Suites, junitSuite(n, s, m))
	}
	if err := out.Write(w); err != nil {
		return fmt.Errorf("writing a sweep as JUnit: %w", err)
	}
	return nil
}

func junitSuite(id int, s trial.Result, m trial.Matrix) junit.Suite {
	out := junit.NewSuite(id, render.Line(m.Transition))
	out.Properties = []junit.Property{
		{Name: "version", Value: string(s.Version)}, {Name: "seed", Value: fmt.Sprint(s.Seed)}, {Name: "command", Value: render.Line(s.Again())},
	}
	for _, row := range m.Rows {
		out.Add(junitCase(s, m.Transition, row))
	}
	for _, f := range s.Findings {
		if alone := f.WithoutItem(m.Transition); len(alone.Items) > 0 {
			out.Add(newJUnitCase(m.Transition, f.Signature(), junitFailure([]trial.Finding{alone})))
		}
	}
	out.Time = junit.Seconds(secondsOf(s, m.Transition))
	out.SystemOut = withoutFailure(s, m)
	return out
}

// junitCase is the test case of a gate.
func junitCase(s trial.Result, transition string, row trial.Row) junit.Case {
	if row.Why != "" {
		c := newJUnitCase(transition, row.Gate, nil)
		c.Skipped = &junit.Result{Message: render.Line(row.Why), Type: "not-tried"}
		return c
	}
	var found []trial.Finding
	for _, f := range s.Findings {
		if of := f.Of(transition, row.Gate); len(of.Items) > 0 {
			found = append(found, of)
		}
	}
	return newJUnitCase(transition, row.Gate, junitFailure(found))
}

func newJUnitCase(transition, name string, failed *junit.Result) junit.Case {
	return junit.Case{Name: render.Line(name), Classname: render.Line("sweep." + transition), Time: junit.Seconds(0), Failure: failed}
}

// junitFailure is what findings say, or nil if there are none.
func junitFailure(found []trial.Finding) *junit.Result {
	if len(found) == 0 {
		return nil
	}
	var signatures []string
	var text strings.Builder
	for _, f := range found {
		signatures = append(signatures, f.Signature())
		fmt.Fprintf(&text, "%s\n", render.Visible(f.Signature()))
		for _, i := range f.Items {
			text.WriteString(junitItem(i))
		}
	}
	return &junit.Result{Message: render.Line(strings.Join(signatures, "; ")), Type: "finding", Text: junit.Text(text.String())}
}

func junitItem(i trial.Found) string {
	detail := strings.ReplaceAll(render.Visible(i.Detail), "\n", "\n    ")
	if !i.HasItem() {
		return "  " + detail + "\n"
	}
	return fmt.Sprintf("  %s: %s\n    alone: %s; control: %s\n", render.Line(i.String()), detail, i.Alone, i.Control)
}

// secondsOf is how long the plans with a change took.
func secondsOf(s trial.Result, transition string) (seconds float64) {
	for _, p := range s.Plans {
		if p.Transition.String() == transition {
			seconds += p.Seconds
		}
	}
	return seconds
}

// withoutFailure lists what was seen with a change and fails no test case.
func withoutFailure(s trial.Result, m trial.Matrix) string {
	var b strings.Builder
	for _, l := range s.All() {
		if l.Standing == trial.Reported {
			continue
		}
		for _, i := range l.During(m.Transition).Items {
			fmt.Fprintf(&b, "%s: %s\n%s", l.Standing, render.Visible(l.Signature()), junitItem(i))
		}
	}
	return b.String()
}
