// Package junit has the elements of a JUnit file, and writes it.
//
// The elements are what both schemas in wide use allow: the one of Ant's JUnit task
// (windyroad/JUnit-Schema) and the one that Jenkins checks files against
// (jenkinsci/xunit-plugin, junit-10.xsd). That is why testsuites has no attributes, why a
// test case has no properties of its own, and why the two empty output elements are there.
package junit

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"time"
)

// File is a file: its root element.
type File struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []Suite  `xml:"testsuite"`
}

// Suite is a suite of test cases.
type Suite struct {
	Package    string     `xml:"package,attr"`
	ID         int        `xml:"id,attr"`
	Name       string     `xml:"name,attr"`
	Timestamp  string     `xml:"timestamp,attr"`
	Hostname   string     `xml:"hostname,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr"`
	Properties []Property `xml:"properties>property"`
	Cases      []Case     `xml:"testcase"`
	SystemOut  string     `xml:"system-out"`
	SystemErr  string     `xml:"system-err"`
}

// Property is something that a suite says.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Case is a test case. At most one of its results is set; it passed if none is.
type Case struct {
	Name      string  `xml:"name,attr"`
	Classname string  `xml:"classname,attr"`
	Time      string  `xml:"time,attr"`
	Skipped   *Result `xml:"skipped"`
	Error     *Result `xml:"error"`
	Failure   *Result `xml:"failure"`
}

// Result says why a test case did not pass. Text is made by Text.
type Result struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",innerxml"`
}

// NewSuite returns a suite of no cases that was run at the epoch: the schemas want a time
// also where nothing was started.
func NewSuite(id int, name string) Suite {
	if name == "" {
		name = "skewrig"
	}
	return Suite{
		Package:   "skewrig",
		ID:        id,
		Name:      name,
		Timestamp: Timestamp(time.Unix(0, 0)),
		Hostname:  "localhost",
		Time:      Seconds(0),
	}
}

// Add adds a case, and counts it.
func (s *Suite) Add(c Case) {
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

// Write writes the file.
func (f File) Write(w io.Writer) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(f); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// Text escapes a text of several lines. Marshalling would escape its line ends too, which is
// unreadable.
func Text(s string) string {
	var b strings.Builder
	// Writing to a strings.Builder cannot fail.
	_ = xml.EscapeText(&b, []byte(s))
	return "\n" + strings.ReplaceAll(b.String(), "&#xA;", "\n")
}

// Seconds is how long something took.
func Seconds(seconds float64) string { return strconv.FormatFloat(seconds, 'f', 3, 64) }

// Timestamp has no zone, as the schemas want it. It is in UTC.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }
