package conformance

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/suites/internal/offline"
)

// A client that is older than a field loses it, and whoever sends patches does not. The cells
// need more than the default pair, so that no other spec has them.
var _ = It("has clients of other releases write", func(ctx SpecContext) {
	all, err := catalog.Cells()
	Expect(err).NotTo(HaveOccurred())
	cells, err := plan.Match(all, []string{
		fmt.Sprintf("kep-4939/clients/typed/client:%s/encoding:json", release.Previous),
		fmt.Sprintf("kep-5999/clients/typed/client:%s/encoding:protobuf", release.Previous),
		fmt.Sprintf("kep-4939/clients/patches/kubectl:%s", release.Newest),
	})
	Expect(err).NotTo(HaveOccurred())
	builder := new(build.Builder)
	offline.SkipWithout(ctx, builder, cells)
	dir, results := runCells(ctx, builder, cells...)
	for i, cell := range cells {
		Expect(results[i].Outcome).To(Equal(reports.Pass), "%s: %s", results[i].ID, results[i].Reason)
		expectEachCheckCounts(ctx, cell, dir)
	}
})
