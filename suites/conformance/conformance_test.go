// Package conformance runs the catalog as Ginkgo specs: one spec per cell, with
// the same plan, the same runner and the same verdict as `skewrig run`.
package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/catalog"
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
	declare(cells)
	RunSpecs(t, "conformance")
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
			Expect(problems(results[0].Settled())).To(BeEmpty())
		})
	}
}

// attach adds the plan and the record to the spec's report, shown if it fails.
func attach(cell plan.Cell, dir string) {
	AddReportEntry("plan", plan.Print(cell), ReportEntryVisibilityFailureOrVerbose)
	history, err := os.ReadFile(filepath.Join(engine.CellDir(dir, cell.ID), "history.jsonl"))
	Expect(err).NotTo(HaveOccurred())
	AddReportEntry("record", string(history), ReportEntryVisibilityFailureOrVerbose)
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
