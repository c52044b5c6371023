// Package gates compares the tables of feature gates with what the releases
// themselves report.
package gates

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

var releases = flag.String("releases", string(release.Newest), "the releases to ask, separated by commas, or all")

var standIns = flagStandIns()

func flagStandIns() *[]build.StandIn {
	var all []build.StandIn
	flag.Func("stand-in", "compile another module than one that can't be had: MODULE=VERSION or MODULE=DIR (repeatable)", func(text string) error {
		s, err := build.ParseStandIn(text)
		all = append(all, s)
		return err
	})
	return &all
}

func TestGates(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "gates")
}

var _ = Describe("the tables", Ordered, func() {
	It("are what the release's API server reports, and what its components have besides", compareTables)
	It("agree with the list that the release keeps itself", compareLists)
	It("are what the API server reports while it emulates the releases before", compareEmulated)
})

func compareTables(ctx SpecContext) {
	builder := &build.Builder{StandIns: *standIns}
	for _, v := range asked(ctx, builder) {
		reported := report(ctx, builder, v)
		table, known, err := release.Table(release.Effective{Version: v})
		Expect(err).NotTo(HaveOccurred())
		Expect(known).To(BeTrue(), "no table for %s", v)
		Expect(table).To(Equal(reported), "the table of %s; write it anew with: go run ./cmd/newest --older %s", v.MajorMinor(), v)
	}
}

// versionedList is where a release lists the versions of its feature gates, but for those of client-go.
const versionedList = "test/compatibility_lifecycle/reference/versioned_feature_list.yaml"

func compareLists(ctx SpecContext) {
	builder := &build.Builder{StandIns: *standIns}
	for _, v := range asked(ctx, builder) {
		dir, err := builder.Source(ctx, v)
		Expect(err).NotTo(HaveOccurred())
		text, err := os.ReadFile(filepath.Join(dir, versionedList))
		Expect(err).NotTo(HaveOccurred())
		var listed []struct {
			Name  string `json:"name"`
			Specs []struct {
				Default          bool   `json:"default"`
				Lock             bool   `json:"lockToDefault"`
				Stage            string `json:"preRelease"`
				Version          string `json:"version"`
				MinCompatibility string `json:"minCompatibilityVersion"`
			} `json:"versionedSpecs"`
		}
		Expect(yaml.Unmarshal(text, &listed)).To(Succeed())
		Expect(len(listed)).To(BeNumerically(">", 100))
		table, _, err := release.Table(release.Effective{Version: v})
		Expect(err).NotTo(HaveOccurred())
		counts := func(version string, upTo int) bool {
			return version == "" || release.Version("v"+version).Minor() <= upTo
		}
		for _, gate := range listed {
			var is release.Gate
			for _, s := range gate.Specs {
				if counts(s.Version, v.Minor()) && counts(s.MinCompatibility, v.Minor()-1) { // what runs beside it is one older
					is = release.Gate{Name: gate.Name, Stage: release.Stage(strings.ToUpper(cmp.Or(s.Stage, string(release.GA)))), Default: s.Default, Locked: s.Lock}
				}
			}
			at := slices.IndexFunc(table, func(g release.Gate) bool { return g.Name == gate.Name })
			Expect(at).To(BeNumerically(">=", 0), "the table of %s has no %s", v, gate.Name)
			Expect(release.Gate{Name: gate.Name, Stage: table[at].Stage, Default: table[at].Default, Locked: table[at].Locked}).To(Equal(is), "%s of %s", gate.Name, v)
		}
	}
}

func compareEmulated(ctx SpecContext) {
	builder := &build.Builder{StandIns: *standIns}
	for _, v := range asked(ctx, builder) {
		oldest, _ := release.Emulatable(v)
		for emulated := v.Minor() - 1; emulated >= oldest.Minor(); emulated-- {
			e := release.Effective{Version: v, Emulated: release.Version(fmt.Sprintf("v1.%d", emulated))}
			table, _, err := release.Table(e)
			Expect(err).NotTo(HaveOccurred())
			of := reported(ctx, builder, e)
			Expect(lines(slices.DeleteFunc(table, onlyOfOthers(ctx, builder, v)))).To(Equal(lines(of)), "the table of %s", e)
		}
	}
}

// onlyOfOthers reports whether a gate of a release is not one of its API server.
func onlyOfOthers(ctx SpecContext, builder *build.Builder, v release.Version) func(release.Gate) bool {
	GinkgoHelper()
	served := reported(ctx, builder, release.Effective{Version: v})
	return func(g release.Gate) bool {
		return !slices.ContainsFunc(served, func(other release.Gate) bool { return other.Name == g.Name })
	}
}

// lines are gates as far as the metric has them.
func lines(gates []release.Gate) string {
	gates = slices.Clone(gates)
	for i, g := range gates {
		gates[i] = release.Gate{Name: g.Name, Stage: g.Stage, Default: g.Default}
	}
	return release.FormatGates(gates)
}

// asked are the releases to ask. The gates of one without a table become known.
func asked(ctx context.Context, builder *build.Builder) []release.Version {
	GinkgoHelper()
	if *releases == "all" {
		return release.Supported()
	}
	var all []release.Version
	for text := range strings.SplitSeq(*releases, ",") {
		v, err := release.Parse(text)
		Expect(err).NotTo(HaveOccurred())
		builder.Pair.Newest, builder.Pair.Previous = v, v
		Expect(builder.Know(ctx)).To(Succeed())
		all = append(all, v)
	}
	return all
}

// enabled is a line of the metric in which a component reports its gates.
var enabled = regexp.MustCompile(`(?m)^kubernetes_feature_enabled\{name="([^"]+)",stage="([^"]*)"\} ([01])$`)

// report is what the API server and the packages of a release say.
func report(ctx context.Context, builder *build.Builder, v release.Version) []release.Gate {
	GinkgoHelper()
	return withFeatures(ctx, builder, v, reported(ctx, builder, release.Effective{Version: v}))
}

// reported are the gates that the API server of a release reports.
func reported(ctx context.Context, builder *build.Builder, e release.Effective) []release.Gate {
	GinkgoHelper()
	server := record.Component{Name: record.APIServer, Version: e.Version, Settings: record.Settings{EmulatedVersion: e.Emulated}}
	rig, err := cluster.New(ctx, cluster.Config{
		Topology: record.Topology{Version: e.Version, Members: []record.Component{server}},
		Binary:   builder.Binary,
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(rig.Close)
	metrics, err := rig.Client().Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())

	var gates []release.Gate
	for _, line := range enabled.FindAllStringSubmatch(string(metrics), -1) {
		gate := release.Gate{Name: line[1], Stage: release.Stage(line[2]), Default: line[3] == "1"}
		if gate.Stage == "" {
			gate.Stage = release.GA
		}
		gates = append(gates, gate)
	}
	slices.SortFunc(gates, func(a, b release.Gate) int { return strings.Compare(a.Name, b.Name) })
	return gates
}

// withFeatures are gates with what the metric does not have, and the release's own packages of
// features have: which gates are locked, on which each depends, what it was before, and gates of
// other components alone.
func withFeatures(ctx context.Context, builder *build.Builder, v release.Version, gates []release.Gate) []release.Gate {
	GinkgoHelper()
	features, err := builder.Features(ctx, v)
	Expect(err).NotTo(HaveOccurred())
	Expect(features).NotTo(BeEmpty())
	for _, feature := range features {
		at, found := slices.BinarySearchFunc(gates, feature.Name, func(g release.Gate, name string) int { return strings.Compare(g.Name, name) })
		if !found {
			gates = slices.Insert(gates, at, feature)
			continue
		}
		gates[at].Locked, gates[at].Needs, gates[at].Versions = feature.Locked, feature.Needs, feature.Versions
	}
	return gates
}
