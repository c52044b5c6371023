package conformance

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
)

var _ = It("takes the steps that are for a failure after one only", func(ctx SpecContext) {
	cells := cellsOf("catch.yaml")
	dir, results := runCells(ctx, new(build.Builder), cells...)
	want := []struct {
		outcome reports.Outcome
		taken   []string
	}{
		{reports.Pass, []string{"create", "2", "3", "ordinary", "cleaned"}},
		{reports.Fail, []string{"create", "2", "3", "caught", "caught-in-vain", "ordinary", "cleaned"}},
		{reports.Unknown, []string{"create", "2", "caught", "caught-in-vain", "cleaned"}},
	}
	for i, cell := range cells {
		Expect(results[i].Outcome).To(Equal(want[i].outcome), results[i].Reason)
		Expect(stepsTaken(dir, cell)).To(Equal(want[i].taken))
	}
})

// stepsTaken are the names of the steps that a cell's record shows.
func stepsTaken(dir string, cell plan.Cell) (names []string) {
	GinkgoHelper()
	for _, step := range record.All[record.StepStarted](eventsOf(dir, cell)) {
		names = append(names, step.Name)
	}
	return names
}
