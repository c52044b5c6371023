package render

import (
	"fmt"
	"io"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/changed"
	"github.com/skewrig/skewrig/reports/junit"
)

// maxChanges is how many lines of a section the document has: the rest is behind the links.
const maxChanges = 60

// Changed writes what a release changes as GitHub renders it.
func Changed(w io.Writer, d changed.Document) error {
	var m markdown
	m.printf("# What %s changes\n\nSince %s. %s\n", text(string(d.Release)), text(string(d.Since)), text(progress(d)))
	for _, s := range d.Sections {
		m.printf("\n## %s: %d\n\n%s\n\n", text(s.Title), len(s.Lines), text(s.Note))
		var rows [][]string
		for _, l := range s.Lines[:min(len(s.Lines), maxChanges)] {
			what := code(oneLine(l.What, maxText))
			if l.Link != "" {
				what = fmt.Sprintf("[%s](%s)", what, l.Link)
			}
			rows = append(rows, []string{what, text(oneLine(l.Detail, maxText))})
		}
		m.table(rows, "what", "how")
		if more := len(s.Lines) - maxChanges; more > 0 {
			m.printf("\nAnd %d more.\n", more)
		}
	}
	m.printf("\n## Stages\n\n")
	var rows [][]string
	for _, s := range d.Stages {
		rows = append(rows, []string{text(s.Name), text(stageState(s)), fmt.Sprintf("%.0f s", s.Seconds), code(s.Command)})
	}
	m.table(rows, "stage", "result", "took", "command")
	return m.writeTo(w, "what a release changes")
}

// progress says how far the stages are.
func progress(d changed.Document) string {
	ended := 0
	for _, s := range d.Stages {
		if s.Exit != nil {
			ended++
		}
	}
	if ended < len(d.Stages) {
		return fmt.Sprintf("%d of %d stages have ended: this page is not whole.", ended, len(d.Stages))
	}
	return fmt.Sprintf("All %d stages have ended.", ended)
}

func stageState(s changed.Stage) string {
	switch {
	case s.Exit == nil:
		return "has not run"
	case s.Informs && s.Ended():
		return "said"
	case *s.Exit == reports.ExitExpected:
		return "as expected"
	case *s.Exit == reports.ExitNonconforming:
		return "not as expected"
	default:
		return fmt.Sprintf("not judged (exit code %d)", *s.Exit)
	}
}

// ChangedJUnit writes the stages as a test suite: one that was not as expected failed, and one that
// was not judged is an error.
func ChangedJUnit(w io.Writer, d changed.Document) error {
	suite := junit.NewSuite(0, "skewrig release "+string(d.Release))
	var seconds float64
	for _, s := range d.Stages {
		seconds += s.Seconds
		c := junit.Case{Name: s.Name, Classname: string(d.Release), Time: junit.Seconds(s.Seconds)}
		switch {
		case s.Exit == nil || !s.Ended():
			c.Error = &junit.Result{Message: oneLine(stageState(s)+": "+s.Said, maxText), Type: "not judged"}
		case *s.Exit == reports.ExitNonconforming && !s.Informs:
			c.Failure = &junit.Result{Message: stageState(s), Type: "nonconformance"}
		}
		suite.Add(c)
	}
	suite.Time = junit.Seconds(seconds)
	if err := (junit.File{Suites: []junit.Suite{suite}}).Write(w); err != nil {
		return fmt.Errorf("writing what a release changes as JUnit: %w", err)
	}
	return nil
}
