package mutants

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// A short selection of the broken servers is tried unless all are asked for, which
// takes about a quarter of an hour:
//
//	go run github.com/onsi/ginkgo/v2/ginkgo --procs=2 -v --focus='Pods API' ./suites/mutants -- -podsapi=all
//
// A part of a name instead of all tries those that have it in their names.
var podsServers = flag.String("podsapi", "", "which broken servers of the Pods API to try: all, or a part of their names (default: a few)")

// podsArea is before the names of the scenarios.
const podsArea = "kep-4188/"

var _ = It("has a broken server of the Pods API for each check", func() {
	all, err := catalog.Cells()
	Expect(err).NotTo(HaveOccurred())
	cells, err := plan.Match(all, []string{podsArea + "**/kubelet:reference"})
	Expect(err).NotTo(HaveOccurred())

	found := maps.Clone(survivingPodsChecks)
	for name, m := range podsMutants {
		for scenario, checks := range m.red {
			for _, c := range checks {
				found[scenario+" "+c] = name
			}
		}
	}
	var missing []string
	for _, cell := range cells {
		for _, step := range cell.Steps {
			checks, _ := step.Action.(action.Checks)
			for _, c := range checks.Checks {
				id := strings.TrimPrefix(cell.Scenario, podsArea) + " " + c.ID
				if _, ok := found[id]; !ok {
					missing = append(missing, id)
				}
				delete(found, id)
			}
		}
	}
	slices.Sort(missing)
	if superfluous := slices.Sorted(maps.Keys(found)); len(missing)+len(superfluous) > 0 {
		Fail(fmt.Sprintf("no broken server has these:\n%s\nand there are no such checks:\n%s",
			strings.Join(missing, "\n"), strings.Join(superfluous, "\n")))
	}
})

var _ = Describe("a broken server of the Pods API", func() {
	for _, name := range slices.Sorted(maps.Keys(podsMutants)) {
		m := podsMutants[name]
		It("is found that has "+name, func(ctx SpecContext) {
			if !tried(name, m) {
				Skip("it is left out: -podsapi=all")
			}
			expectFound(m, runPodsMutant(ctx, m))
		})
	}
})

func tried(name string, m podsMutant) bool {
	switch *podsServers {
	case "":
		return m.short
	case "all":
		return true
	default:
		return strings.Contains(name, *podsServers)
	}
}

// runPodsMutant runs the scenarios that are to find a mutant on it, and those again
// for which the machine was too slow to say anything.
func runPodsMutant(ctx context.Context, m podsMutant) (judged []reports.Cell) {
	GinkgoHelper()
	root, dir := filepath.Join("..", ".."), GinkgoT().TempDir()
	replace := make(map[string]string)
	for _, c := range m.changes {
		replaceWith(c, root, dir, replace)
	}
	impatientCatalog(root, dir, replace)
	skewrig := buildSkewrig(ctx, root, dir, replace)
	var cells []string
	for scenario := range m.red {
		cells = append(cells, podsArea+scenario+"/kubelet:reference")
	}
	for parallel := 3; parallel > 0 && len(cells) > 0; parallel-- {
		args := []string{"run", "--parallel", fmt.Sprint(parallel), "--report-dir", filepath.Join(dir, fmt.Sprintf("report-%d", parallel)), "--output", "json"}
		results := runReport(exec.CommandContext(ctx, skewrig, append(args, cells...)...))
		cells = nil
		for _, cell := range results {
			if unjudged(cell) && parallel > 1 {
				cells = append(cells, cell.ID)
			} else {
				judged = append(judged, cell)
			}
		}
	}
	return judged
}

// runReport runs a command that writes a report, and may fail if something is red.
func runReport(command *exec.Cmd) []reports.Cell {
	GinkgoHelper()
	out, err := command.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		Expect(exit.ExitCode()).To(BeElementOf(reports.ExitNonconforming, reports.ExitNotJudged), "%s", exit.Stderr)
	} else {
		Expect(err).NotTo(HaveOccurred())
	}
	report, err := reports.Read(strings.NewReader(string(out)))
	Expect(err).NotTo(HaveOccurred())
	return report.Cells
}

// replaceWith makes a change of a file, on top of those that were made of it before.
func replaceWith(c change, root, dir string, files map[string]string) {
	GinkgoHelper()
	original, err := filepath.Abs(filepath.Join(root, c.file))
	Expect(err).NotTo(HaveOccurred())
	if broken, again := files[original]; again {
		change{broken, c.from, c.to}.write("", broken)
		return
	}
	files[original] = filepath.Join(dir, fmt.Sprintf("%d.go", len(files)))
	c.write(root, files[original])
}

// impatientCatalog replaces the scenarios by some that wait no longer than soon for
// what may not come.
func impatientCatalog(root, dir string, files map[string]string) {
	GinkgoHelper()
	scenarios, err := filepath.Glob(filepath.Join(root, "scenarios", "catalog", podsArea, "*.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(scenarios).NotTo(BeEmpty())
	for _, scenario := range scenarios {
		original, err := filepath.Abs(scenario)
		Expect(err).NotTo(HaveOccurred())
		text, err := os.ReadFile(scenario)
		Expect(err).NotTo(HaveOccurred())
		files[original] = filepath.Join(dir, filepath.Base(scenario))
		Expect(os.WriteFile(files[original], longWaits.ReplaceAll(text, []byte("eventually: "+soon.String())), 0o600)).To(Succeed())
	}
}

// longWaits are the waits of a scenario for what is to be in the end.
var longWaits = regexp.MustCompile(`eventually: ([3-9]\d|\d{3,})s`)

// expectFound expects that the checks are red which a mutant is to turn red, and
// that each cell went on to its end. A check that fails as recorded, or by a text
// that says two things, is red, too: the reference, in which nothing is changed, has these red and no others.
func expectFound(m podsMutant, cells []reports.Cell) {
	GinkgoHelper()
	for _, cell := range cells {
		var red []string
		for _, c := range cell.Checks {
			switch c.Outcome {
			case reports.Fail, reports.ExpectedFail, reports.Ambiguous:
				red = append(red, c.ID)
			}
		}
		AddReportEntry(cell.Scenario, strings.Join(red, " "), ReportEntryVisibilityFailureOrVerbose)
		Expect(cell.Outcome.Judged()).To(BeTrue(), "%s: %s", cell.ID, cell.Reason)
		expected := m.red[strings.TrimPrefix(cell.Scenario, podsArea)]
		if len(m.changes) == 0 {
			Expect(red).To(ConsistOf(expected), "%s, in which nothing is changed", cell.ID)
		}
		for _, c := range expected {
			Expect(red).To(ContainElement(c), cell.ID)
		}
	}
	Expect(cells).To(HaveLen(len(m.red)))
}
