package render

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
)

// The elements below are what both schemas in wide use allow: the one of Ant's
// JUnit task (windyroad/JUnit-Schema) and the one that Jenkins checks files
// against (jenkinsci/xunit-plugin, junit-10.xsd). testdata/junit.xsd says what
// that is. That is why testsuites has no attributes, why a test case has no
// properties of its own, and why the two empty output elements are there.
type junitReport struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Package    string          `xml:"package,attr"`
	ID         int             `xml:"id,attr"`
	Name       string          `xml:"name,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Hostname   string          `xml:"hostname,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	SystemOut  string          `xml:"system-out"`
	SystemErr  string          `xml:"system-err"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string       `xml:"name,attr"`
	Classname string       `xml:"classname,attr"`
	Time      string       `xml:"time,attr"`
	Skipped   *junitResult `xml:"skipped"`
	Error     *junitResult `xml:"error"`
	Failure   *junitResult `xml:"failure"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",innerxml"`
}

// junitText escapes a text of several lines. Marshalling would escape its line
// ends too, which is unreadable.
func junitText(s string) string {
	var b strings.Builder
	// Writing to a strings.Builder cannot fail.
	_ = xml.EscapeText(&b, []byte(s))
	return "\n" + strings.ReplaceAll(b.String(), "&#xA;", "\n")
}

// JUnit writes the report as JUnit XML: a test suite per KEP and group, a test
// case per cell, named by the rest of the cell's id. Suite properties say which
// versions ran and, per test case, the outcome, the axes and the requirements
// served.
//
// A nonconformance is a failure and what was not judged is an error. What does
// not apply, and what fails as the known-deviation list says, is skipped, with
// the reason; the type attribute and the outcome property tell them apart.
//
// What is wrong with the run as a whole is a suite of its own, so that a reader
// of the file sees red exactly when the exit code is not zero.
func JUnit(w io.Writer, r reports.Report) error {
	var out junitReport
	for _, cells := range suites(r.Cells) {
		out.Suites = append(out.Suites, newSuite(len(out.Suites), cells, r))
	}
	if suite, ok := runSuite(len(out.Suites), r); ok {
		out.Suites = append(out.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("writing a report as JUnit: %w", err)
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(out); err != nil {
		return fmt.Errorf("writing a report as JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// suites groups cells by suite, in order. Cells of one suite need not follow
// each other: "a/b-c" sorts between "a/b" and "a/b/x".
func suites(cells []reports.Cell) [][]reports.Cell {
	suite := func(c reports.Cell) string {
		name, _ := cellid.Split(c.ID)
		return name
	}
	groups := reports.Grouped(cells, suite)
	slices.SortFunc(groups, func(a, b []reports.Cell) int { return cmp.Compare(suite(a[0]), suite(b[0])) })
	return groups
}

func newSuite(id int, cells []reports.Cell, r reports.Report) junitSuite {
	name, _ := cellid.Split(cells[0].ID)
	suite := emptySuite(id, name)
	var seconds float64
	for _, c := range cells {
		seconds += c.DurationSeconds
		suite.add(newCase(c, r))
	}
	suite.Time = junitTime(seconds)
	if started := firstStart(cells); !started.IsZero() {
		suite.Timestamp = junitTimestamp(started)
	}
	suite.Properties = append(runProperties(r), caseProperties(cells)...)
	return suite
}

// emptySuite returns a suite of no cases that was run at the epoch: the schemas
// want a time also where nothing was started.
func emptySuite(id int, name string) junitSuite {
	if name == "" {
		name = "skewrig"
	}
	return junitSuite{
		Package:   "skewrig",
		ID:        id,
		Name:      name,
		Timestamp: junitTimestamp(time.Unix(0, 0)),
		Hostname:  "localhost",
		Time:      junitTime(0),
	}
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func newCase(c reports.Cell, r reports.Report) junitCase {
	suite, name := cellid.Split(c.ID)
	out := junitCase{
		Name:      oneLine(name, maxText),
		Classname: oneLine(strings.ReplaceAll(suite, "/", "."), maxText),
		Time:      junitTime(c.DurationSeconds),
	}
	if c.Outcome == reports.Pass {
		return out
	}
	result := &junitResult{Message: oneLine(c.Reason, maxText), Type: string(c.Outcome)}
	switch {
	case c.Outcome.Nonconforming():
		out.Failure = result
	case c.Outcome.Expected():
		// Few pages show the type.
		result.Message = oneLine(string(c.Outcome)+": "+c.Reason, maxText)
		if bug, is := reports.ReproductionOf(c, r); is {
			result.Message = oneLine(saidOf(bug, r)+": "+c.Reason, maxText)
		}
		out.Skipped = result
		return out
	default:
		out.Error = result
	}
	result.Text = junitText(details(c, telling{report: r, called: identifier}).String() + background(c, r))
	return out
}

// background is what a reader needs who sees nothing of a report but one failure:
// what is stated of what failed, what ran, how to see it again, and where the
// evidence is.
func background(c reports.Cell, r reports.Report) string {
	var b fields
	for _, q := range r.Requirements {
		if slices.ContainsFunc(c.Checks, func(check reports.Check) bool { return check.Requirement == q.ID && !check.Outcome.Expected() }) {
			b.head("\n%s:", oneLine(q.ID, maxText))
			writeField(&b, "statement", q.Statement)
			writeField(&b, "source", q.Source)
		}
	}
	b.head("\ncomponents:")
	writeField(&b, "axes", axes(c))
	writeField(&b, "again", again(c, r.Reproduce))
	writeField(&b, "evidence", c.WorstRun().Dir+"/ in the report's directory")
	return b.String()
}

// axes are the values that make a cell of its scenario, in a line.
func axes(c reports.Cell) string {
	var values []string
	for _, axis := range slices.Sorted(maps.Keys(c.Axes)) {
		values = append(values, axis+"="+c.Axes[axis])
	}
	return strings.Join(values, " ")
}

// runProperties say what became of the run that a suite is of, and what ran.
func runProperties(r reports.Report) []junitProperty {
	reproduce := r.Reproduce
	properties := []junitProperty{
		{"headline", reports.HeadlineOf(r).String()},
		{"skewrig", oneLine(reproduce.Skewrig, maxText)},
		{"go", oneLine(reproduce.Go, maxText)},
		{"seed", strconv.FormatInt(reproduce.Seed, 10)},
		{"command", oneLine(reproduce.Command, maxText)},
	}
	for _, component := range reproduce.Components {
		properties = append(properties, junitProperty{
			Name:  oneLine("component/"+component.Name+"/"+component.Version, maxText),
			Value: oneLine(component.Source+" "+component.Digest, maxText),
		})
	}
	return properties
}

func caseProperties(cells []reports.Cell) []junitProperty {
	var properties []junitProperty
	for _, c := range cells {
		_, name := cellid.Split(c.ID)
		add := func(what, value string) {
			properties = append(properties, junitProperty{oneLine(what+"/"+name, maxText), oneLine(value, maxText)})
		}
		add("outcome", string(c.Outcome))
		if c.OfReference() {
			add("reference", "no release: not counted with the others")
		}
		if len(c.Axes) > 0 {
			add("axes", axes(c))
		}
		if len(c.Requirements) > 0 {
			add("requirements", strings.Join(c.Requirements, " "))
		}
	}
	return properties
}

// runSuite returns the suite of what is wrong with the run as a whole, if there
// is anything.
func runSuite(id int, r reports.Report) (junitSuite, bool) {
	suite := emptySuite(id, "skewrig/run")
	add := func(name string, failure, unjudged *junitResult) {
		suite.add(junitCase{Name: name, Classname: "skewrig.run", Time: junitTime(0), Failure: failure, Error: unjudged})
	}
	for i, problem := range r.Problems {
		add(fmt.Sprintf("problem-%d", i+1), &junitResult{Message: oneLine(problem, maxText), Type: "problem"}, nil)
	}
	if r.Partial != "" {
		add("everything-ran", nil, &junitResult{Message: oneLine(r.Partial, maxText), Type: "partial"})
	}
	if nothingJudged(r) {
		add("something-was-judged", nil, &junitResult{Message: "nothing was judged: " + reports.HeadlineOf(r).String(), Type: string(reports.Unknown)})
	}
	return suite, suite.Tests > 0
}

func junitTime(seconds float64) string { return strconv.FormatFloat(seconds, 'f', 3, 64) }

// junitTimestamp has no zone, as the schemas want it. It is in UTC.
func junitTimestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }
