// Package conformance runs what `skewrig run` does as Ginkgo specs: one spec per
// cell, with the same plan, the same runner and the same verdict.
package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/known"
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
	declare(append(catalog.OnDefaultPair(cells), watched(t, cells)...))
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

// declare makes a spec of each cell, labelled with the KEP and the group that
// its id begins with.
func declare(cells []plan.Cell) {
	builder := new(build.Builder)
	BeforeSuite(func(ctx SpecContext) {
		for _, t := range plan.Targets(cells) {
			_, err := builder.Binary(ctx, build.Target{Component: build.Component(t.Component), Version: t.Version})
			Expect(err).NotTo(HaveOccurred())
		}
	})
	for _, cell := range cells {
		id := strings.Split(cell.ID, "/")
		It(cell.ID, Label(id[0], id[1]), func(ctx SpecContext) {
			dir := GinkgoT().TempDir()
			e := &engine.Engine{Binary: builder.Binary, Dir: dir}
			results, err := e.Run(ctx, []plan.Cell{cell})
			Expect(err).NotTo(HaveOccurred())
			attach(cell, dir)
			Expect(results).To(HaveLen(1))
			result := excused(results[0])
			Expect(problems(result)).To(BeEmpty())
			expectEachCheckCounts(cell, dir)
		})
	}
}

// excused is a result with what is known to fail marked as such.
func excused(cell reports.Cell) reports.Cell {
	GinkgoHelper()
	list, err := known.Parse(catalog.KnownDeviationsFile, catalog.KnownDeviations)
	Expect(err).NotTo(HaveOccurred())
	applied, _ := known.Apply(list, []reports.Cell{cell}, nil) // the other cells have specs of their own
	return applied[0]
}

// expectEachCheckCounts changes one expectation after the other and judges the
// record again: exactly the check that was changed must turn red, besides those
// that are known to be. It returns how many it changed.
func expectEachCheckCounts(cell plan.Cell, dir string) (changes int) {
	GinkgoHelper()
	results, err := engine.Rejudge(dir, []plan.Cell{cell})
	Expect(err).NotTo(HaveOccurred())
	known := red(results[0])
	for i, step := range cell.Steps {
		checks, _ := step.Action.(plan.Checks)
		for j, c := range checks.Checks {
			if slices.Contains(known, c.ID) {
				continue
			}
			changes++
			changed := cell
			changed.Steps = slices.Clone(cell.Steps)
			changed.Steps[i].Action = plan.Checks{Checks: slices.Clone(checks.Checks)}
			changed.Steps[i].Action.(plan.Checks).Checks[j] = opposite(c)
			results, err := engine.Rejudge(dir, []plan.Cell{changed})
			Expect(err).NotTo(HaveOccurred())
			Expect(red(results[0])).To(ConsistOf(append(slices.Clone(known), c.ID)), "%s, %s", cell.ID, c.ID)
		}
	}
	return changes
}

// opposite is a check that expects something else. What must come true at some
// moment may be untrue before, so that its opposite is that it never does.
func opposite(c plan.Check) plan.Check {
	switch {
	case c.Mode == plan.AtMost:
		c.Times = -1
	case c.Must == "":
		c.Is = "something else"
	case c.Mode == plan.Eventually:
		c.Must = "false"
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
