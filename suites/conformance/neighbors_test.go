package conformance

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// A cell runs as it does alone, whatever cells beside it do to their own objects and nodes.
// What others would notice comes after it, or on another control plane.
var _ = It("hides the noise of cells from the ones beside them", func(ctx SpecContext) {
	quiet, own := quietCells(), cellsOf("noise-own.yaml")
	after, beyond := cellsOf("noise-after.yaml"), cellsOf("noise-beyond.yaml")
	aloneDir, alone := runAll(ctx, &engine.Engine{Isolate: true}, quiet)

	s := newStage(len(own), len(quiet))
	var noisy, amid []plan.Cell
	for _, cell := range own {
		noisy = append(noisy, s.makesNoise(cell, noiseOf(cell)))
	}
	for _, cell := range quiet {
		amid = append(amid, s.amidNoise(cell))
	}
	dir, results := runAll(ctx, new(engine.Engine), slices.Concat(noisy, amid, after, beyond))

	results = results[len(own):]
	for i, cell := range quiet {
		Expect(outcomes(results[i])).To(Equal(outcomes(alone[i])), cell.ID)
		Expect(components(dir, cell)).To(Equal(components(aloneDir, cell)), cell.ID)
		expectNoNoise(dir, cell)
		for j := range after {
			Expect(results[len(quiet)+j].Started).To(BeTemporally(">=", ended(results[i])))
		}
	}

	shared := apiServers(dir, quiet)
	Expect(shared).To(HaveLen(2), "one of each control plane")
	Expect(apiServers(dir, own)).To(Equal(shared))
	Expect(apiServers(dir, after)).To(Equal(shared))
	others := apiServers(dir, beyond)
	Expect(others).To(HaveLen(len(beyond)), "each has its own")
	Expect(others).NotTo(ContainElements(shared))
})

// quietCells are cells that notice much of what others do, on two control planes.
func quietCells() []plan.Cell {
	GinkgoHelper()
	all, err := catalog.Cells()
	Expect(err).NotTo(HaveOccurred())
	some, err := plan.Match(catalog.OnPair(all, release.Releases{}), []string{"kep-5999/e2e/http2-probe-wrong-port", "kep-5999/admission/http2-with-host"})
	Expect(err).NotTo(HaveOccurred())
	return slices.Concat(cellsOf("quiet-node.yaml"), cellsOf("quiet-workloads.yaml"), some)
}

// runAll runs cells at the same time. None runs again alone, and the first one that can't be
// judged ends all: others may wait for it.
func runAll(ctx context.Context, e *engine.Engine, cells []plan.Cell) (dir string, results []reports.Cell) {
	GinkgoHelper()
	ctx, end := context.WithCancelCause(ctx)
	e.Binary, e.Dir, e.Parallel = new(build.Builder).Binary, GinkgoT().TempDir(), len(cells)
	e.Progress = func(p engine.Progress) {
		if p.Result != nil && !p.Result.Outcome.Judged() {
			reasons := []string{p.Result.Reason}
			for _, c := range p.Result.Checks {
				if !c.Outcome.Judged() {
					reasons = append(reasons, c.ID+": "+c.Reason)
				}
			}
			end(fmt.Errorf("%s: %s: %s", p.Cell.ID, p.Result.Outcome, strings.Join(reasons, "; ")))
		}
	}
	results, err := e.Run(ctx, cells)
	Expect(err).NotTo(HaveOccurred())
	Expect(context.Cause(ctx)).To(Succeed())
	return e.Dir, results
}

// outcomes are those of a cell's checks, and its own.
func outcomes(r reports.Cell) map[string]reports.Outcome {
	all := map[string]reports.Outcome{r.Reason: r.Outcome}
	for _, c := range r.Checks {
		all[c.ID] = c.Outcome
	}
	return all
}

// ofOthers is what the noisy cells call their objects, and what is added to the names of
// any cell.
var ofOthers = regexp.MustCompile(`.*(noisy|-skw[0-9]{4}).*`)

// expectNoNoise expects that a cell's record, logs and plan have nothing of other cells.
func expectNoNoise(dir string, cell plan.Cell) {
	GinkgoHelper()
	files := os.DirFS(engine.CellDir(dir, cell.ID))
	Expect(fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		Expect(path).NotTo(MatchRegexp(ofOthers.String()))
		text, err := fs.ReadFile(files, path)
		Expect(ofOthers.FindAllString(string(text), 5)).To(BeEmpty(), filepath.Join(cell.ID, path))
		return err
	})).To(Succeed())
}

// components are those that a cell's record shows, in the order of their names.
func components(dir string, cell plan.Cell) []string {
	GinkgoHelper()
	seen := make(map[string]bool)
	for e := range record.All[record.ComponentStarted](eventsOf(dir, cell)) {
		seen[e.Subject] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// apiServers are the processes of the API servers that cells began with, each once.
func apiServers(dir string, cells []plan.Cell) (pids []int) {
	GinkgoHelper()
	for _, cell := range cells {
		pids = append(pids, livesOfAPIServer(dir, cell)[0])
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// ended is when a cell ended.
func ended(r reports.Cell) time.Time {
	return r.Started.Add(time.Duration(r.DurationSeconds * float64(time.Second)))
}
