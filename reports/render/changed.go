package render

import (
	"encoding/xml"
	"fmt"
	"io"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/changed"
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
	type said struct {
		Message string `xml:"message,attr"`
	}
	type testCase struct {
		Name    string  `xml:"name,attr"`
		Class   string  `xml:"classname,attr"`
		Time    float64 `xml:"time,attr"`
		Failure *said   `xml:"failure,omitempty"`
		Error   *said   `xml:"error,omitempty"`
	}
	suite := struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Cases    []testCase `xml:"testcase"`
	}{Name: "skewrig release " + string(d.Release), Tests: len(d.Stages)}
	for _, s := range d.Stages {
		c := testCase{Name: s.Name, Class: string(d.Release), Time: s.Seconds}
		switch {
		case s.Exit == nil || !s.Ended():
			c.Error, suite.Errors = &said{Printable(stageState(s) + ": " + s.Said)}, suite.Errors+1
		case *s.Exit == reports.ExitNonconforming && !s.Informs:
			c.Failure, suite.Failures = &said{stageState(s)}, suite.Failures+1
		}
		suite.Cases = append(suite.Cases, c)
	}
	encoded, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, encoded)
	return err
}
