package mutants

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/suites/mutants/mutation"
)

// The generated mutants take hours: make mutants. What is done is kept in a
// directory, and not done again.
var (
	scoreDir      = flag.String("score", "", "directory of the results of the generated mutants (default: they are left out)")
	scoreTarget   = flag.String("score-of", "prober", "of which component mutants are generated")
	scoreCells    = flag.String("score-cells", "", "a pattern of the cells that are run (default: all that may see a mutant)")
	scoreParallel = flag.Int("score-parallel", 6, "how many rigs run at the same time")
	scorePatience = flag.Duration("score-patience", soon, "how long a mutant waits for what may not come")
	scoreTries    = flag.Int("score-tries", 4, "in how many cells a mutant runs that none of them finds")
	scoreFor      = flag.Duration("score-for", 0, "how long (default: until it is done)")
)

var _ = It("scores the catalog by generated mutants", Serial, func(ctx SpecContext) {
	if *scoreDir == "" {
		Skip("it is left out: -score=DIR")
	}
	limited := context.Context(ctx)
	if *scoreFor > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, *scoreFor)
		defer cancel()
	}
	s := newScore(ctx, targets[*scoreTarget])
	s.lookAtAll(limited)
	s.seers = make(map[int]int)
	for _, v := range s.sights.all {
		if v.Red == "" {
			for _, id := range v.Mutants {
				s.seers[id]++
			}
		}
	}
	s.tryAll(limited)
	s.summarize()
})

// score is the work on the mutants of one target.
type score struct {
	target
	dir     string
	binary  build.Binary
	builder *build.Builder
	mutants []mutation.Mutant
	cells   []plan.Cell
	digests map[string]string // of the cells' scenarios, by the ids of cells
	seers   map[int]int       // how many cells see each mutant
	// equivalent are those that are said to be.
	equivalent map[int]bool

	mu      sync.Mutex
	running map[int]bool
	sights  log[sight]
	trials  log[trial]
}

// sight is what a cell sees while nothing is changed.
type sight struct {
	Cell string `json:"cell"`
	// Digest is that of the cell's scenario: what another one came to doesn't count.
	Digest  string  `json:"digest"`
	Seconds float64 `json:"seconds"`
	// Red is why the cell is of no use. If unset, all of its checks hold.
	Red string `json:"red,omitempty"`
	// Mutants are the ids of those that would have made a difference.
	Mutants []int `json:"mutants"`
}

// trial is one mutant in one cell.
type trial struct {
	// Mutant is an id, or 0 for a control: nothing is changed.
	Mutant int    `json:"mutant"`
	Cell   string `json:"cell"`
	Digest string `json:"digest"`
	// Found is the check that is red. If unset, the mutant was not noticed.
	Found string `json:"found,omitempty"`
	// Unclear is true if the machine was too slow to say, or the control after it did
	// not hold.
	Unclear bool `json:"unclear,omitempty"`
}

func newScore(ctx context.Context, t target) *score {
	GinkgoHelper()
	t.patience = max(t.patience, *scorePatience)
	s := &score{target: t, dir: *scoreDir, builder: new(build.Builder), running: make(map[int]bool)}
	Expect(os.MkdirAll(s.dir, 0o700)).To(Succeed())
	var err error
	s.binary, s.mutants, err = t.build(ctx, s.builder, GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	key := filepath.Base(filepath.Dir(s.binary.Path)) // results of another binary don't count
	s.sights.path, s.trials.path = filepath.Join(s.dir, key+".sights"), filepath.Join(s.dir, key+".trials")
	Expect(s.sights.read()).To(Succeed())
	Expect(s.trials.read()).To(Succeed())

	all, err := catalog.Cells()
	Expect(err).NotTo(HaveOccurred())
	s.forget(all)
	s.equivalent = s.explained()
	patterns := t.cells
	if *scoreCells != "" {
		patterns = strings.Split(*scoreCells, ",")
	}
	cells, err := plan.Match(all, patterns)
	Expect(err).NotTo(HaveOccurred())
	for _, cell := range cells {
		s.cells = append(s.cells, sharing(withoutKnown(cell)))
	}
	return s
}

// explained are the mutants that the reasons call equivalent.
func (s *score) explained() map[int]bool {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join("testdata", "score", *scoreTarget+".reasons.tsv"))
	if os.IsNotExist(err) {
		return nil
	}
	Expect(err).NotTo(HaveOccurred())
	reasons, err := mutation.ParseReasons(text)
	Expect(err).NotTo(HaveOccurred())
	var all []mutation.Result
	for _, m := range s.mutants {
		all = append(all, mutation.Result{Mutant: m})
	}
	results, _ := mutation.Explain(all, reasons)
	equivalent := make(map[int]bool)
	for _, r := range results {
		equivalent[r.ID] = r.Outcome == mutation.Equivalent
	}
	return equivalent
}

// forget leaves out what scenarios came to that have changed since.
func (s *score) forget(all []plan.Cell) {
	s.digests = make(map[string]string)
	for _, cell := range all {
		s.digests[cell.ID] = fmt.Sprintf("%.6x", sha256.Sum256([]byte(cell.Text)))
	}
	s.sights.all = slices.DeleteFunc(s.sights.all, func(v sight) bool { return v.Digest != s.digests[v.Cell] })
	s.trials.all = slices.DeleteFunc(s.trials.all, func(t trial) bool { return t.Digest != s.digests[t.Cell] })
}

// scrape is a look at counters after which another cell may have the rig: it
// asks for those of its own pods, which end with them.
type scrape struct{ action.Scrape }

// Facts implements action.Action.
func (s scrape) Facts() action.Facts {
	f := s.Scrape.Facts()
	f.Reach = action.ReachOwn
	return f
}

// sharing is a cell that shares its rig if it does nothing but to look at it.
func sharing(cell plan.Cell) plan.Cell {
	cell.Steps = slices.Clone(cell.Steps)
	for i, step := range cell.Steps {
		if s, is := step.Action.(action.Scrape); is {
			cell.Steps[i].Action = scrape{s}
		}
	}
	return cell
}

// lookAtAll runs each cell once as it is, and keeps which mutants would have made
// a difference.
func (s *score) lookAtAll(ctx context.Context) {
	GinkgoHelper()
	var group errgroup.Group
	group.SetLimit(*scoreParallel)
	for _, cell := range s.cells {
		if !slices.ContainsFunc(s.sights.all, func(v sight) bool { return v.Cell == cell.ID }) {
			group.Go(func() error { return s.look(ctx, cell) })
		}
	}
	Expect(group.Wait()).To(Succeed())
}

func (s *score) look(ctx context.Context, cell plan.Cell) error {
	if ctx.Err() != nil {
		return nil
	}
	rig, err := s.newRig()
	if err != nil {
		return err
	}
	defer os.RemoveAll(rig.dir)
	results, err := rig.engine(nil).Run(ctx, []plan.Cell{hurried(cell, unchanged, s.patience)})
	if err != nil || ctx.Err() != nil || unjudged(results[0]) {
		return err
	}
	seen, err := os.ReadFile(rig.seen())
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	v := sight{Cell: cell.ID, Digest: s.digests[cell.ID], Seconds: results[0].DurationSeconds, Red: found(results[0])}
	if v.Red == "" && results[0].Outcome != reports.Pass {
		v.Red = string(results[0].Outcome) + " " + results[0].Reason
	}
	for word := range strings.FieldsSeq(string(seen)) {
		id, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		v.Mutants = append(v.Mutants, id)
	}
	slices.Sort(v.Mutants)
	v.Mutants = slices.Compact(v.Mutants)
	fmt.Fprintf(GinkgoWriter, "%s sees %d mutants in %.0f s %s\n", cell.ID, len(v.Mutants), v.Seconds, v.Red)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sights.add(v)
}

// summarize writes what came of each mutant.
func (s *score) summarize() {
	GinkgoHelper()
	var results []mutation.Result
	for _, m := range s.mutants {
		results = append(results, s.result(m))
	}
	path := filepath.Join(s.dir, *scoreTarget+".tsv")
	Expect(os.WriteFile(path, mutation.Format(results), 0o600)).To(Succeed())
	AddReportEntry("score", string(mutation.Table(results)))
}

func (s *score) result(m mutation.Mutant) mutation.Result {
	r := mutation.Result{Mutant: m, Outcome: mutation.Unseen}
	seen, tried := 0, 0
	for _, v := range s.sights.all {
		if v.sees(m.ID) {
			seen++
		}
	}
	for _, t := range s.trials.all {
		switch {
		case t.Mutant != m.ID:
		case s.kills(t):
			return mutation.Result{Mutant: m, Outcome: mutation.Killed, Why: t.Cell + ": " + t.Found}
		case !t.Unclear:
			tried++
		}
	}
	switch {
	case tried > 0:
		r.Outcome, r.Why = mutation.Survived, fmt.Sprintf("Cells that were run: %d of %d", tried, seen)
	case seen > 0:
		r.Outcome = mutation.Untried
	}
	return r
}
