package render

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/reports/junit"
)

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
	var out junit.File
	for _, cells := range suites(r.Cells) {
		out.Suites = append(out.Suites, newSuite(len(out.Suites), cells, r))
	}
	if suite, ok := runSuite(len(out.Suites), r); ok {
		out.Suites = append(out.Suites, suite)
	}
	if err := out.Write(w); err != nil {
		return fmt.Errorf("writing a report as JUnit: %w", err)
	}
	return nil
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

func newSuite(id int, cells []reports.Cell, r reports.Report) junit.Suite {
	name, _ := cellid.Split(cells[0].ID)
	suite := junit.NewSuite(id, name)
	var seconds float64
	for _, c := range cells {
		seconds += c.DurationSeconds
		suite.Add(newCase(c, r))
	}
	suite.Time = junit.Seconds(seconds)
	if started := firstStart(cells); !started.IsZero() {
		suite.Timestamp = junit.Timestamp(started)
	}
	suite.Properties = append(runProperties(r), caseProperties(cells)...)
	return suite
}

func newCase(c reports.Cell, r reports.Report) junit.Case {
	suite, name := cellid.Split(c.ID)
	out := junit.Case{
		Name:      oneLine(name, maxText),
		Classname: oneLine(strings.ReplaceAll(suite, "/", "."), maxText),
		Time:      junit.Seconds(c.DurationSeconds),
	}
	if c.Outcome == reports.Pass {
		return out
	}
	result := &junit.Result{Message: oneLine(c.Reason, maxText), Type: string(c.Outcome)}
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
	result.Text = junit.Text(details(c, telling{report: r, called: identifier}).String() + background(c, r))
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
	values := reports.Each(slices.Sorted(maps.Keys(c.Axes)), func(axis string) string { return axis + "=" + c.Axes[axis] })
	return strings.Join(values, " ")
}

// runProperties say what became of the run that a suite is of, and what ran.
func runProperties(r reports.Report) []junit.Property {
	reproduce := r.Reproduce
	properties := []junit.Property{
		{Name: "headline", Value: reports.HeadlineOf(r).String()},
		{Name: "skewrig", Value: oneLine(reproduce.Skewrig, maxText)},
		{Name: "go", Value: oneLine(reproduce.Go, maxText)},
		{Name: "seed", Value: strconv.FormatInt(reproduce.Seed, 10)},
		{Name: "command", Value: oneLine(reproduce.Command, maxText)},
	}
	for _, component := range reproduce.Components {
		properties = append(properties, junit.Property{
			Name:  oneLine("component/"+component.Name+"/"+component.Version, maxText),
			Value: oneLine(component.Source+" "+component.Digest, maxText),
		})
	}
	return properties
}

func caseProperties(cells []reports.Cell) []junit.Property {
	var properties []junit.Property
	for _, c := range cells {
		_, name := cellid.Split(c.ID)
		add := func(what, value string) {
			properties = append(properties, junit.Property{Name: oneLine(what+"/"+name, maxText), Value: oneLine(value, maxText)})
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
func runSuite(id int, r reports.Report) (junit.Suite, bool) {
	suite := junit.NewSuite(id, "skewrig/run")
	add := func(name string, failure, unjudged *junit.Result) {
		suite.Add(junit.Case{Name: name, Classname: "skewrig.run", Time: junit.Seconds(0), Failure: failure, Error: unjudged})
	}
	for i, problem := range r.Problems {
		add(fmt.Sprintf("problem-%d", i+1), &junit.Result{Message: oneLine(problem, maxText), Type: "problem"}, nil)
	}
	if r.Partial != "" {
		add("everything-ran", nil, &junit.Result{Message: oneLine(r.Partial, maxText), Type: "partial"})
	}
	if nothingJudged(r) {
		add("something-was-judged", nil, &junit.Result{Message: "nothing was judged: " + reports.HeadlineOf(r).String(), Type: string(reports.Unknown)})
	}
	return suite, suite.Tests > 0
}

// firstStart is when the first cell started; zero if none did.
func firstStart(cells []reports.Cell) (first time.Time) {
	for _, c := range cells {
		if first.IsZero() || !c.Started.IsZero() && c.Started.Before(first) {
			first = c.Started
		}
	}
	return first
}
