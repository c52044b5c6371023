package render

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
)

func TestJUnitKeepsToBothSchemas(t *testing.T) {
	t.Parallel()
	for name, r := range reportsUnderTest(t) {
		root := parseXML(t, render(t, "xml", r))
		if root.XMLName.Local != "testsuites" {
			t.Errorf("%s: the root is %s", name, root.XMLName.Local)
		}
		for _, v := range violations(junitSchema(t), root) {
			t.Errorf("%s: %s", name, v)
		}
	}
}

// TestOtherJUnitFilesAreValid: sweeps and rehearsals write files of the same schema.
func TestOtherJUnitFilesAreValid(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sweep/show/testdata/junit.xml", "rehearse/show/testdata/small.xml", "rehearse/show/testdata/hostile.xml", "rehearse/show/testdata/empty.xml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range violations(junitSchema(t), parseXML(t, string(text))) {
			t.Errorf("%s: %s", name, v)
		}
	}
}

// mistakes are changes to the mixed report after which it is no longer valid.
var mistakes = [][2]string{
	{`<testsuites>`, `<testsuites tests="1">`},
	{`<testsuites>`, `<testsuites>text`},
	{`timestamp="2026-09-01T12:01:30"`, `timestamp="2026-09-01T12:01:30Z"`},
	{` hostname="localhost"`, ``},
	{`<system-out></system-out>`, ``},
	{`</testcase>`, `<properties></properties></testcase>`},
	{`</testcase>`, `<skipped message="" type="a"></skipped></testcase>`},
	{` time="2.345"`, ` time="2.345s"`},
	{`classname="kep-4939.rollback"`, `classname=" kep-4939.rollback"`},
}

func TestViolationsAreFound(t *testing.T) {
	t.Parallel()
	good := render(t, "xml", mixed(t, 1))
	for _, change := range mistakes {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Errorf("%s is not in the report:\n%s", change[0], good)
			continue
		}
		if len(violations(junitSchema(t), parseXML(t, bad))) == 0 {
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

// TestAgainIsACommandThatWorks: a cell of a user's own file can't be run by its id.
func TestAgainIsACommandThatWorks(t *testing.T) {
	t.Parallel()
	const id = "mine/pods/web"
	dir := reports.DirFor(nil, id)
	for command, want := range map[string]string{
		"skewrig run 'kep-4939/**' -o json":  "skewrig run 'mine/pods/web' --report-dir " + dir,
		"skewrig run mine.yaml --parallel 2": "skewrig run mine.yaml 'mine/pods/web' --report-dir " + dir,
	} {
		r := assemble(t, []reports.Cell{{ID: id, Scenario: id, File: "mine.yaml", Outcome: reports.HarnessError, Reason: "lost"}})
		r.Reproduce.Command, r.Reproduce.Files = command, nil
		for format, text := range map[string]string{"JUnit": strings.ReplaceAll(render(t, "xml", r), "&#39;", "'"), "annotations": annotations(t, r)} {
			if !strings.Contains(text, want) {
				t.Errorf("after %q, %s do not say %q:\n%s", command, format, want, text)
			}
		}
	}
}
