// Package rehearse rehearses upgrades of small shops, as skewrig rehearse does.
package rehearse

import (
	"slices"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
)

func TestRehearse(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "rehearse")
}

// run rehearses the objects of a file, all of which come to rest. It returns the report, and what was found: class, stage, kind.
func run(ctx SpecContext, file string, from, to release.Version, gates release.Gates) (rehearse.Report, [][3]string) {
	GinkgoHelper()
	input, err := manifest.Load([]string{file}, nil)
	Expect(err).NotTo(HaveOccurred())
	Expect(input.Problems).To(BeEmpty())
	r := app.Rehearsal{From: from, To: to, Gates: gates, Input: input, Dir: GinkgoT().TempDir()}
	builder := new(build.Builder)
	_, err = builder.Build(ctx, r.Targets())
	Expect(err).NotTo(HaveOccurred())
	report, err := r.Run(ctx, builder)
	Expect(err).NotTo(HaveOccurred())
	Expect(report.Failed).To(BeEmpty())
	Expect(report.Problems).To(BeEmpty())
	Expect(report.Objects).To(HaveLen(len(input.Objects)))
	for _, o := range report.Objects {
		Expect(o.Pending).To(BeEmpty(), o.String())
	}
	var found [][3]string
	for _, f := range report.Findings {
		for _, o := range f.Objects {
			found = append(found, [3]string{string(f.What), string(f.Stage), o.Kind + " " + o.Name})
		}
	}
	return report, found
}

var _ = It("is silent where nothing changes", func(ctx SpecContext) {
	report, found := run(ctx, "testdata/shop.yaml", release.Newest, release.Newest, nil)
	Expect(found).To(BeEmpty())
	Expect(report.Notices).To(BeEmpty())
})

var _ = It("finds the budget that blocks a drain", func(ctx SpecContext) {
	_, found := run(ctx, "testdata/shop.yaml", release.Previous, release.Newest, nil)
	Expect(found).To(Equal([][3]string{{string(rehearse.Blocked), string(rehearse.Nodes), "Deployment web"}}))
})

// kubernetes#141961 and the field survival of KEP-4939: the older release doesn't have the field.
var _ = It("finds the field that goes on the way back, and names no other object", func(ctx SpecContext) {
	report, found := run(ctx, "testdata/tls.yaml", release.Previous, release.Newest, release.Gates{"GRPCContainerProbeTLS": true})
	Expect(report.MayGoBack()).To(BeFalse())
	Expect(found).To(ContainElement(HaveExactElements(string(rehearse.FieldLost), BeElementOf(string(rehearse.HalfWayBack), string(rehearse.Back)), "Deployment api")))
	Expect(slices.ContainsFunc(found, func(f [3]string) bool { return f[2] != "Deployment api" })).To(BeFalse(), "%v", found)
})
