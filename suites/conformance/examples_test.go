package conformance

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/engine"
)

var _ = It("gives what docs/own-pod.md says of its examples", func(ctx SpecContext) {
	cells := cellsIn("../../docs/examples/payments", "older-kubelet.yaml", "upgrade.yaml")
	dir := GinkgoT().TempDir()
	e := &engine.Engine{Binary: new(build.Builder).Binary, Dir: dir, Parallel: len(cells)}
	results, err := e.Run(ctx, cells)
	Expect(err).NotTo(HaveOccurred())
	for i, want := range []reports.Outcome{reports.Fail, reports.Pass} {
		attach(cells[i], dir)
		Expect(results[i].Outcome).To(Equal(want), "%s: %s", results[i].ID, results[i].Reason)
	}
})
