package render

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
)

// element is what both common JUnit schemas allow of one element, in the words
// of the stricter one of the two in each respect.
type element struct {
	attributes map[string]string // name to a pattern of the values
	children   string            // a pattern of the children's names, each with a space after it
}

const (
	anything = `(?s).*`
	token    = `\S+( \S+)*`
	count    = `\d+`
	seconds  = `\d+(\.\d+)?`
)

var schema = map[string]element{
	"testsuites": {nil, `(testsuite )*`},
	"testsuite": {map[string]string{
		"name": token, "package": token, "hostname": token, "id": count, "tests": count, "failures": count,
		"errors": count, "skipped": count, "time": seconds, "timestamp": `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`,
	}, `properties (testcase )*system-out system-err `},
	"properties": {nil, `(property )*`},
	"property":   {map[string]string{"name": token, "value": anything}, ``},
	"testcase":   {map[string]string{"name": token, "classname": token, "time": seconds}, `(skipped |error |failure )?`},
	"skipped":    {map[string]string{"message": anything, "type": token}, ``},
	"error":      {map[string]string{"message": anything, "type": token}, ``},
	"failure":    {map[string]string{"message": anything, "type": token}, ``},
	"system-out": {nil, ``},
	"system-err": {nil, ``},
}

// node is any XML element.
type node struct {
	XMLName    xml.Name
	Attributes []xml.Attr `xml:",any,attr"`
	Children   []node     `xml:",any"`
}

func (n node) attribute(name string) string {
	i := slices.IndexFunc(n.Attributes, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		return ""
	}
	return n.Attributes[i].Value
}

func (n node) named(name string) []node {
	var found []node
	for _, child := range n.Children {
		if child.XMLName.Local == name {
			found = append(found, child)
		}
	}
	return found
}

// violations returns where n does not keep to the schema.
func violations(n node) []string {
	name := n.XMLName.Local
	allowed, ok := schema[name]
	if !ok {
		return []string{"unknown element " + name}
	}
	var found []string
	given := map[string]bool{}
	for _, a := range n.Attributes {
		given[a.Name.Local] = true
		pattern, ok := allowed.attributes[a.Name.Local]
		if !ok || !regexp.MustCompile(`\A(`+pattern+`)\z`).MatchString(a.Value) {
			found = append(found, fmt.Sprintf("%s: attribute %s=%q", name, a.Name.Local, a.Value))
		}
	}
	for required := range allowed.attributes {
		if !given[required] {
			found = append(found, fmt.Sprintf("%s: no attribute %s", name, required))
		}
	}
	var children strings.Builder
	for _, child := range n.Children {
		children.WriteString(child.XMLName.Local + " ")
		found = append(found, violations(child)...)
	}
	if !regexp.MustCompile(`\A(` + allowed.children + `)\z`).MatchString(children.String()) {
		found = append(found, fmt.Sprintf("%s: children %s", name, children.String()))
	}
	return found
}

func parseXML(t *testing.T, in string) node {
	t.Helper()
	var root node
	if err := xml.NewDecoder(strings.NewReader(in)).Decode(&root); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestJUnitKeepsToBothSchemas(t *testing.T) {
	t.Parallel()
	for name, r := range reportsUnderTest(t) {
		root := parseXML(t, render(t, "xml", r))
		if root.XMLName.Local != "testsuites" {
			t.Errorf("%s: the root is %s", name, root.XMLName.Local)
		}
		for _, v := range violations(root) {
			t.Errorf("%s: %s", name, v)
		}
	}
}

func TestViolationsAreFound(t *testing.T) {
	t.Parallel()
	good := render(t, "xml", mixed(t, 1))
	for _, change := range [][2]string{
		{`<testsuites>`, `<testsuites tests="1">`},
		{`timestamp="2026-09-01T12:01:30"`, `timestamp="2026-09-01T12:01:30Z"`},
		{` hostname="localhost"`, ``},
		{`<system-out></system-out>`, ``},
		{`</testcase>`, `<properties></properties></testcase>`},
		{` time="2.345"`, ` time="2.345s"`},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Errorf("%s is not in the report:\n%s", change[0], good)
			continue
		}
		if len(violations(parseXML(t, bad))) == 0 {
			t.Errorf("%s instead of %s is no violation", change[1], change[0])
		}
	}
}

func TestJUnitCountsWhatItContains(t *testing.T) {
	t.Parallel()
	for name, r := range reportsUnderTest(t) {
		cases := 0
		for _, suite := range parseXML(t, render(t, "xml", r)).named("testsuite") {
			got := map[string]int{}
			for _, c := range suite.named("testcase") {
				cases++
				got["tests"]++
				got["failures"] += len(c.named("failure"))
				got["errors"] += len(c.named("error"))
				got["skipped"] += len(c.named("skipped"))
			}
			for what, n := range got {
				if suite.attribute(what) != strconv.Itoa(n) {
					t.Errorf("%s: suite %s: %s=%s, and there are %d", name, suite.attribute("name"), what, suite.attribute(what), n)
				}
			}
		}
		if cases < len(r.Cells) {
			t.Errorf("%s: %d test cases for %d cells", name, cases, len(r.Cells))
		}
	}
}

// TestJUnitIsRedExactlyWhenTheExitCodeIs goes through every pair of outcomes:
// failures and errors have to say what the exit code says.
func TestJUnitIsRedExactlyWhenTheExitCodeIs(t *testing.T) {
	t.Parallel()
	cell := func(id string, o reports.Outcome) reports.Cell {
		return reports.Cell{ID: id, Checks: []reports.Check{{ID: "a", Outcome: o, Reason: "why"}}}
	}
	check := func(name string, r reports.Report) {
		var failures, errors int
		for _, suite := range parseXML(t, render(t, "xml", r)).named("testsuite") {
			f, _ := strconv.Atoi(suite.attribute("failures"))
			e, _ := strconv.Atoi(suite.attribute("errors"))
			failures, errors = failures+f, errors+e
		}
		want := reports.ExitExpected
		switch {
		case failures > 0:
			want = reports.ExitNonconforming
		case errors > 0:
			want = reports.ExitNotJudged
		}
		if got := reports.ExitCode(r); got != want {
			t.Errorf("%s: exit code %d with %d failures and %d errors", name, got, failures, errors)
		}
	}
	check("nothing", assemble(t, nil))
	for _, a := range reports.Outcomes() {
		for _, b := range reports.Outcomes() {
			check(fmt.Sprintf("%s and %s", a, b), assemble(t, []reports.Cell{cell("a/b/c", a), cell("a/b/d", b)}))
		}
	}
	r := assemble(t, []reports.Cell{cell("a/b/c", reports.Pass)})
	r.Problems = []string{"stale"}
	check("a problem", r)
}

func TestJUnitGroupsCellsOfOneSuiteThatAreNotNeighbors(t *testing.T) {
	t.Parallel()
	var cells []reports.Cell
	for _, id := range []string{"a/b/x", "a/b-c/x", "a", "a/b"} {
		cells = append(cells, reports.Cell{ID: id, Checks: []reports.Check{{ID: "up", Outcome: reports.Pass}}})
	}
	cells = append(cells, reports.Cell{ID: "a/b/a", Checks: cells[0].Checks})
	var got []string
	for _, suite := range parseXML(t, render(t, "xml", assemble(t, cells))).named("testsuite") {
		for _, c := range suite.named("testcase") {
			got = append(got, suite.attribute("name")+" "+c.attribute("name"))
		}
	}
	want := []string{"skewrig a", "a b", "a/b a", "a/b x", "a/b-c x"}
	if !slices.Equal(got, want) {
		t.Errorf("suites and cases %q, want %q", got, want)
	}
}
