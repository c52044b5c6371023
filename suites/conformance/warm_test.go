package conformance

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

var _ = It("keeps a control plane warm until a cell changes it", func(ctx SpecContext) {
	warm := rig.NewWarm()
	DeferCleanup(warm.Close)
	cells := cellsOf("warm.yaml")
	keeps, changes := cells[0], cells[1]

	first := apiServersOf(ctx, warm, keeps)
	Expect(first).To(HaveLen(1))
	Expect(apiServersOf(ctx, warm, keeps)).To(Equal(first))
	changed := apiServersOf(ctx, warm, changes)
	Expect(changed).To(HaveLen(2))
	Expect(changed[0]).To(Equal(first[0]), "a control plane that is warm is used")
	Expect(changed).NotTo(ContainElements(apiServersOf(ctx, warm, keeps)), "what a cell changed is replaced")
})

// apiServersOf runs a cell, which passes, and returns the processes of its API server.
func apiServersOf(ctx SpecContext, warm *rig.Warm, cell plan.Cell) []int {
	GinkgoHelper()
	here, err := app.Here()
	Expect(err).NotTo(HaveOccurred())
	dir := GinkgoT().TempDir()
	report, err := app.Run(ctx, []plan.Cell{cell}, app.Options{Dir: dir, Binary: new(build.Builder).Binary, Catalog: here, Warm: warm})
	Expect(err).NotTo(HaveOccurred())
	result := resultOf(report, cell)
	Expect(problems(result)).To(BeEmpty())
	Expect(result.Outcome).To(Equal(reports.Pass))
	return livesOfAPIServer(dir, cell)
}
