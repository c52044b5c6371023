// Package conformance runs what `skewrig run` does as Ginkgo specs: one spec per
// cell, with the same plan, the same runner and the same verdict.
package conformance

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	RegisterFailHandler(Fail)
	cells, err := catalog.Cells()
	if err != nil {
		t.Fatal(err)
	}
	declare(catalog.OnPair(cells, release.Releases{}), watched(t, cells))
	RunSpecs(t, "conformance")
}

// watched are some of the cells with a watchdog, which is built for them: the
// whole story, and one in which a release is known to do otherwise.
func watched(t *testing.T, cells []plan.Cell) []plan.Cell {
	t.Helper()
	some, err := plan.Match(cells, []string{"dwd/outage/all-nodes/watchdog:v1.8.0", "dwd/candidates/one-node/watchdog:v1.8.0"})
	if err != nil {
		t.Fatal(err)
	}
	return some
}

// declare makes a spec of each cell, labelled with "catalog" and the first two
// parts of its id. What only some need is not built if they are not selected.
func declare(cells, some []plan.Cell) {
	builder := new(build.Builder)
	all := slices.Concat(cells, some)
	BeforeSuite(func(ctx SpecContext) {
		needed := all
		if !Label("catalog").MatchesLabelFilter(GinkgoLabelFilter()) {
			needed = cells
		}
		_, err := app.Build(ctx, builder, app.Targets(needed), needed)
		Expect(err).NotTo(HaveOccurred())
	})
	for _, cell := range all {
		id := strings.Split(cell.ID, "/")
		It(cell.ID, Label("catalog", id[0], id[1]), func(ctx SpecContext) {
			dir, results := runCells(ctx, builder, cell)
			Expect(problems(results[0])).To(BeEmpty())
			expectEachCheckCounts(ctx, cell, dir)
		})
	}
}

// runCells runs cells, and returns their results, in which what is known to fail
// is marked as such, and the directory that has their files.
func runCells(ctx SpecContext, builder *build.Builder, cells ...plan.Cell) (dir string, results []reports.Cell) {
	GinkgoHelper()
	here, err := app.Here()
	Expect(err).NotTo(HaveOccurred())
	dir = GinkgoT().TempDir()
	report, err := app.Run(ctx, cells, app.Options{Dir: dir, Binary: builder.Binary, Catalog: here, Parallel: len(cells)})
	Expect(err).NotTo(HaveOccurred())
	for _, cell := range cells {
		attach(cell, dir)
		results = append(results, resultOf(report, cell))
	}
	return dir, results
}

// resultOf is the result of a cell.
func resultOf(report reports.Report, cell plan.Cell) reports.Cell {
	GinkgoHelper()
	i := slices.IndexFunc(report.Cells, func(c reports.Cell) bool { return c.ID == cell.ID })
	Expect(i).To(BeNumerically(">=", 0), "%s is not in the report", cell.ID)
	return report.Cells[i]
}

// expectEachCheckCounts changes the expectation of each check that is green, and judges the
// record again: all of them must turn red. It returns how many it changed.
func expectEachCheckCounts(ctx context.Context, cell plan.Cell, dir string) (changes int) {
	GinkgoHelper()
	results, err := engine.Rejudge(ctx, dir, 1, []plan.Cell{cell})
	Expect(err).NotTo(HaveOccurred())
	want := red(results[0])
	known := slices.Clone(want)
	cell.Steps = slices.Clone(cell.Steps)
	for i, step := range cell.Steps {
		checks, is := step.Action.(action.Checks)
		if !is {
			continue
		}
		checks.Checks = slices.Clone(checks.Checks)
		for j, c := range checks.Checks {
			if slices.Contains(known, c.ID) {
				continue
			}
			changes++
			checks.Checks[j] = opposite(c)
			want = append(want, c.ID)
		}
		cell.Steps[i].Action = checks
	}
	results, err = engine.Rejudge(ctx, dir, 1, []plan.Cell{cell})
	Expect(err).NotTo(HaveOccurred())
	Expect(red(results[0])).To(ConsistOf(want), cell.ID)
	return changes
}

// opposite is a check that expects something else. What must come true at some
// moment may be untrue before, so that its opposite is that it never does.
func opposite(c action.Check) action.Check {
	switch {
	case c.Mode == record.AtMost:
		c.Times = -1
	case c.Mode == record.AtLeast:
		c.Times = math.MaxInt32
	case c.Must == "", c.Mode == record.Eventually:
		c.Is, c.Must = nil, "false" // it is never so
	default:
		c.Must = "!(" + c.Must + ")"
	}
	return c
}

// red are the checks that do not hold. One that the run did not watch to its end,
// because it held, is among them if it would have to be watched longer now.
func red(cell reports.Cell) (ids []string) {
	for _, c := range cell.Checks {
		if c.Outcome == reports.Fail || c.Reason == check.StoppedWatching {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// attach adds the plan and the record to the spec's report, shown if it fails.
func attach(cell plan.Cell, dir string) {
	AddReportEntry("plan", plan.Print(cell), ReportEntryVisibilityFailureOrVerbose)
	history, err := os.ReadFile(historyFile(dir, cell))
	Expect(err).NotTo(HaveOccurred())
	AddReportEntry("record", string(history), ReportEntryVisibilityFailureOrVerbose)
}

func historyFile(dir string, cell plan.Cell) string {
	return filepath.Join(engine.CellDir(dir, cell.ID), "history.jsonl")
}

// problems says what keeps a cell from being as expected, a line for each.
func problems(cell reports.Cell) []string {
	if cell.Outcome.Expected() {
		return nil
	}
	lines := []string{string(cell.Outcome) + ": " + cell.Reason}
	for _, c := range cell.Checks {
		if !c.Outcome.Expected() {
			lines = append(lines, string(c.Outcome)+": "+c.ID+" ("+c.Requirement+"): expected "+c.Expected+"; observed "+c.Observed+" "+c.Reason)
		}
	}
	return lines
}
