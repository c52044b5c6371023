// Package rehearse rehearses upgrades of small shops, as skewrig rehearse does.
package rehearse

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
func run(ctx SpecContext, file string, r app.Rehearsal) (rehearse.Report, [][3]string) {
	GinkgoHelper()
	input, err := manifest.Load([]string{file}, nil)
	Expect(err).NotTo(HaveOccurred())
	Expect(input.Problems).To(BeEmpty())
	r.Input, r.Dir = input, GinkgoT().TempDir()
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

var upgrade = app.Rehearsal{From: release.Previous, To: release.Newest}

var _ = It("is silent where nothing changes", func(ctx SpecContext) {
	report, found := run(ctx, "testdata/shop.yaml", app.Rehearsal{From: release.Newest, To: release.Newest})
	Expect(found).To(BeEmpty())
	Expect(report.Notices).To(BeEmpty())
})

var _ = It("finds the budget that blocks a drain", func(ctx SpecContext) {
	_, found := run(ctx, "testdata/shop.yaml", upgrade)
	Expect(found).To(Equal([][3]string{{string(rehearse.Blocked), string(rehearse.Nodes), "Deployment web"}}))
})

// kubernetes#141961 and the field survival of KEP-4939: the older release doesn't have the field.
var _ = It("finds the field that goes on the way back, and names no other object", func(ctx SpecContext) {
	r := upgrade
	r.Gates = release.Gates{"GRPCContainerProbeTLS": true}
	report, found := run(ctx, "testdata/tls.yaml", r)
	back, _ := report.Found(true)
	Expect(back).NotTo(BeEmpty())
	Expect(found).To(ContainElement(HaveExactElements(string(rehearse.FieldLost), BeElementOf(string(rehearse.HalfWayBack), string(rehearse.Back)), "Deployment api")))
	Expect(slices.ContainsFunc(found, func(f [3]string) bool { return f[2] != "Deployment api" })).To(BeFalse(), "%v", found)
})

// The newer release stores a field of the pod template that the older one drops: so the template has another hash once it is applied.
var _ = It("finds the pods that are made again because their template has another hash", func(ctx SpecContext) {
	r := upgrade
	r.Gates, r.Until = release.Gates{"GRPCContainerProbeTLS": true}, rehearse.Changed
	_, found := run(ctx, "testdata/hash.yaml", r)
	Expect(found).To(HaveExactElements(
		[3]string{string(rehearse.Restarts), string(rehearse.Changed), "StatefulSet store"},
		[3]string{string(rehearse.Restarts), string(rehearse.Changed), "DaemonSet agent"},
	))
})

var _ = Describe("an operator", Ordered, func() {
	var operator string
	BeforeAll(func(ctx SpecContext) {
		operator = filepath.Join(GinkgoT().TempDir(), "operator")
		out, err := exec.CommandContext(ctx, "go", "build", "-o", operator, "./testdata/operator").CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
	})
	for _, c := range []struct {
		does, flag string
		want       string // a class of findings
	}{
		{"does its work", "", ""},
		{"loops beside the newer release", "--loops-from=%d", string(rehearse.Loops)},
		{"panics beside the newer release", "--panics-from=%d", string(rehearse.Panics)},
	} {
		It(c.does, func(ctx SpecContext) {
			r := upgrade
			r.Operators = []rehearse.Operator{{Name: "widget-operator", Path: operator, Args: strings.Fields(strings.ReplaceAll(c.flag, "%d", fmt.Sprint(release.Newest.Minor())))}}
			r.Until = rehearse.Changed
			report, found := run(ctx, "testdata/widgets.yaml", r)
			if c.want == "" {
				Expect(report.Findings).To(BeEmpty())
				return
			}
			Expect(report.Findings).NotTo(BeEmpty())
			Expect(string(report.Findings[0].What)).To(Equal(c.want))
			if c.want == string(rehearse.Loops) {
				Expect(found[0][2]).To(Equal("Widget small"))
			} else {
				Expect(report.Findings[0].Summary).To(ContainSubstring("operator widget-operator ends by itself"))
			}
		})
	}
	webhooks := func() app.Rehearsal {
		r := upgrade
		r.Operators = []rehearse.Operator{{Name: "widget-operator", Path: operator, Args: []string{"--webhook-port=$(WEBHOOK_PORT)", "--webhook-certs=$(WEBHOOK_CERTS)"}}}
		return r
	}
	// The newer release fills in spec.updateStrategy.rollingUpdate.maxUnavailable.
	It("refuses with a strict webhook what the newer release fills in", func(ctx SpecContext) {
		r := webhooks()
		r.Until = rehearse.Changed
		report, found := run(ctx, "testdata/strict.yaml", r)
		forward, _ := report.Found(false)
		Expect(forward).NotTo(BeEmpty())
		Expect(found).To(HaveEach(HaveExactElements(string(rehearse.Refused), string(rehearse.Changed), "StatefulSet db")))
		Expect(report.Findings[0].Objects[0].Detail).To(ContainSubstring("maxUnavailable"))
	})
	It("can't convert after the way back what it wrote beside the newer release", func(ctx SpecContext) {
		r := webhooks()
		r.Until = rehearse.Back
		_, found := run(ctx, "testdata/converted.yaml", r)
		Expect(found).To(HaveExactElements(
			[3]string{string(rehearse.Unreadable), string(rehearse.HalfWayBack), "Widget small"},
			[3]string{string(rehearse.Rewritten), string(rehearse.HalfWay), "Widget small"}, // its label, by the operator
		))
	})
})
