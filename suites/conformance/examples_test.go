package conformance

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
)

var _ = It("gives what docs/own-catalog.md says of its examples", func(ctx SpecContext) {
	cells := cellsIn("../../docs/examples/payments", "older-kubelet.yaml", "upgrade.yaml")
	_, results := runCells(ctx, new(build.Builder), cells...)
	for i, want := range []reports.Outcome{reports.Fail, reports.Pass} {
		Expect(results[i].Outcome).To(Equal(want), "%s: %s", results[i].ID, results[i].Reason)
	}
})
