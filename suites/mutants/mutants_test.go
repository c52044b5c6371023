// Package mutants changes one thing at a time that the catalog is to notice, and
// expects a check to turn red: a kubelet with a fault, a server that speaks
// something else, a rule of the model. A check that stays green proves nothing.
// (The checks' own expectations are changed in package conformance.)
package mutants

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "mutants")
}

// TestEachChangeCanBeMade holds the changes against our own sources, before a spec
// spends minutes until it comes to the one that can't be made.
func TestEachChangeCanBeMade(t *testing.T) {
	changes := slices.Collect(maps.Values(rules))
	for _, m := range podsMutants {
		changes = append(changes, m.changes...)
	}
	for _, c := range changes {
		text, err := os.ReadFile(filepath.Join("..", "..", c.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte(c.from)); n != 1 {
			t.Errorf("%s says %q %d times", c.file, c.from, n)
		}
	}
}

// change is a text of a file that is another one.
type change struct{ file, from, to string }

// mutant is a fault in one file of the newest kubelet.
type mutant struct {
	change
	// red are the scenarios that must find it, green one that must not.
	red   []string
	green string
}

var _ = DescribeTable("a broken kubelet is found", func(ctx SpecContext, m mutant) {
	target := build.Target{Component: build.Kubelet, Version: release.Newest}
	builder := new(build.Builder)
	target.Overlay = map[string]string{m.file: mutate(ctx, builder, m)}
	broken, err := builder.Binary(ctx, target)
	Expect(err).NotTo(HaveOccurred())
	builder.Given = []build.Given{{Component: build.Kubelet, Version: release.Newest, Path: broken.Path}}

	outcomes := run(ctx, builder, append([]string{m.green}, m.red...))
	for _, scenario := range m.red {
		Expect(outcomes).To(HaveKeyWithValue(scenario, reports.Fail))
	}
	Expect(outcomes).To(HaveKeyWithValue(m.green, reports.Pass))
},
	Entry("a gRPC prober that never speaks TLS", mutant{
		change: change{"pkg/probe/grpc/grpc.go", "if options.UseTLS {", "if options.UseTLS && false {"},
		red: []string{
			"kep-4939/e2e/tls-probe-tls-server", "kep-4939/e2e/tls-probe-becomes-unhealthy",
			"kep-4939/e2e/tls-probe-plaintext-server", "kep-4939/probe/expired-certificate",
		},
		green: "kep-4939/e2e/plaintext-probe-tls-server",
	}),
	Entry("a gRPC prober that verifies certificates", mutant{
		change: change{"pkg/probe/grpc/grpc.go", "InsecureSkipVerify: true,", "InsecureSkipVerify: false,"},
		red:    []string{"kep-4939/e2e/tls-probe-tls-server", "kep-4939/probe/expired-certificate"},
		green:  "kep-4939/e2e/plaintext-probe-plaintext-server",
	}),
	Entry("a gRPC prober that waits as long for the answer as for the handshake", mutant{
		change: change{
			"pkg/probe/grpc/grpc.go", "client := grpchealth.NewHealthClient(conn)",
			"ctx, cancel = context.WithTimeout(context.Background(), timeout)\n\tdefer cancel()\n\tclient := grpchealth.NewHealthClient(conn)",
		},
		red:   []string{"kep-4939/probe/certificates"},
		green: "kep-4939/e2e/tls-probe-tls-server",
	}),
	Entry("an HTTP prober that never speaks h2c", mutant{
		change: change{"pkg/probe/http/http.go", "Transport:     pr.h2cTransport,", "Transport:     pr.transport,"},
		red:    []string{"kep-5999/e2e/http2-probe-h2c-server", "kep-5999/e2e/http2-probe-http1-server"},
		green:  "kep-5999/e2e/http1-probe-http1-server",
	}),
)

// mutate writes the release's file with the fault in it.
func mutate(ctx SpecContext, builder *build.Builder, m mutant) string {
	GinkgoHelper()
	source, err := builder.Source(ctx, release.Newest)
	Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(GinkgoT().TempDir(), "mutant.go")
	m.write(source, path)
	return path
}

// write writes the file below a root with the change in it. The text must occur
// once.
func (c change) write(root, mutant string) {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(root, c.file))
	Expect(err).NotTo(HaveOccurred())
	Expect(bytes.Count(text, []byte(c.from))).To(Equal(1), "%s does not say %q once", c.file, c.from)
	Expect(os.WriteFile(mutant, bytes.Replace(text, []byte(c.from), []byte(c.to), 1), 0o600)).To(Succeed())
}

// run returns the outcomes of scenarios of the catalog by their ids.
func run(ctx SpecContext, builder *build.Builder, scenarios []string) map[string]reports.Outcome {
	GinkgoHelper()
	var patterns []string
	for _, s := range scenarios {
		patterns = append(patterns, s+"/**")
	}
	cells, err := app.Select(patterns)
	Expect(err).NotTo(HaveOccurred())

	outcomes := make(map[string]reports.Outcome)
	for _, r := range runTrusted(ctx, &engine.Engine{Binary: builder.Binary, Parallel: 3}, cells) {
		outcomes[r.Scenario] = r.Outcome
	}
	return outcomes
}

// runTrusted runs cells, and those again, one at a time, of which nothing can be said: the
// machine was too slow, the rig broke, or the mutant is red of which nothing is changed.
func runTrusted(ctx SpecContext, e *engine.Engine, cells []plan.Cell) (judged []reports.Cell) {
	GinkgoHelper()
	const rounds = 3
	for round := range rounds {
		e.Dir = filepath.Join(GinkgoT().TempDir(), fmt.Sprint(round))
		results, err := e.Run(ctx, cells)
		Expect(err).NotTo(HaveOccurred())
		var again []plan.Cell
		doubtful := redUnchanged(results)
		for i, r := range results { // in the order of the cells
			if unjudged(r) {
				AddReportEntry(r.ID, fmt.Sprintf("round %d: %s: %s", round+1, r.Outcome, r.Reason), ReportEntryVisibilityFailureOrVerbose)
			}
			if unjudged(r) || round+1 < rounds && doubtful[original(r.ID)] {
				again = append(again, cells[i])
			} else {
				judged = append(judged, r)
			}
		}
		cells = again
		e.Parallel = 1
	}
	var ids []string
	for _, c := range cells {
		ids = append(ids, c.ID)
	}
	Expect(ids).To(BeEmpty(), "nothing can be said of these, whatever was changed in them")
	return judged
}

// redUnchanged are the cells that are red although nothing is changed.
func redUnchanged(results []reports.Cell) map[string]bool {
	are := make(map[string]bool)
	for _, r := range results {
		if strings.HasSuffix(r.ID, mutantID+unchanged) && found(r) != "" {
			are[original(r.ID)] = true
		}
	}
	return are
}

// original is the id of the cell that a mutant is made from.
func original(mutant string) string {
	id, _, _ := strings.Cut(mutant, mutantID)
	return id
}

// unjudged reports whether nothing is red, and something could not be judged: such a mutant did not survive.
func unjudged(r reports.Cell) bool {
	return found(r) == "" && slices.ContainsFunc(r.Checks, func(c reports.Check) bool {
		return c.Outcome == reports.Unknown || c.Outcome == reports.HarnessError
	})
}
