package conformance

import (
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

var _ = It("shows a cell nothing of the one beside it", func(ctx SpecContext) {
	cells := cellsOf("sharing.yaml")
	dir, results := runCells(ctx, new(build.Builder), cells...)
	apiServers := make(map[int]bool)
	for i, cell := range cells {
		Expect(problems(results[i])).To(BeEmpty())
		Expect(results[i].Outcome).To(Equal(reports.Pass))
		for _, pid := range livesOfAPIServer(dir, cell) {
			apiServers[pid] = true
		}
	}
	Expect(apiServers).To(HaveLen(1))
})

var _ = It("takes cells through the same changes in step", func(ctx SpecContext) {
	cells := cellsOf("instep.yaml")
	dir, results := runCells(ctx, new(build.Builder), cells...)
	lives := make(map[string][]int)
	for i, cell := range cells {
		Expect(problems(results[i])).To(BeEmpty())
		Expect(results[i].Outcome).To(Equal(reports.Pass))
		lives[cell.Axes["goes"]] = livesOfAPIServer(dir, cell)
	}
	Expect(lives["all"]).To(HaveLen(3))
	Expect(lives["also-all"]).To(Equal(lives["all"]))
	Expect(lives["part"]).To(Equal(lives["all"][:2]), "it has left before the second change")
})

// cellsOf are the cells of a scenario of this suite's own.
func cellsOf(scenario string) []plan.Cell {
	GinkgoHelper()
	return cellsIn("testdata", scenario)
}

// cellsIn are the cells of scenarios in a directory.
func cellsIn(dir string, scenarios ...string) []plan.Cell {
	GinkgoHelper()
	files, err := action.Load(os.DirFS(dir), scenarios)
	Expect(err).NotTo(HaveOccurred())
	cells, err := plan.Cells(files)
	Expect(err).NotTo(HaveOccurred())
	return cells
}

// livesOfAPIServer are the processes of a cell's API server, in the order of their starts.
func livesOfAPIServer(dir string, cell plan.Cell) (pids []int) {
	GinkgoHelper()
	for e, started := range record.All[record.ComponentStarted](eventsOf(dir, cell)) {
		if e.Subject == spec.APIServer {
			pids = append(pids, started.PID)
		}
	}
	return pids
}

// eventsOf is the record that a cell left.
func eventsOf(dir string, cell plan.Cell) []record.Event {
	GinkgoHelper()
	file, err := os.Open(historyFile(dir, cell))
	Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	events, err := record.Read(file)
	Expect(err).NotTo(HaveOccurred())
	return events
}
