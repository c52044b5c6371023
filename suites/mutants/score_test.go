package mutants

import (
	"cmp"
	"context"
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
	"github.com/skewrig/skewrig/scenarios/engine"
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
	for limited.Err() == nil && s.tryNext(limited) {
	}
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

	mu     sync.Mutex
	sights log[sight]
	trials log[trial]
}

// sight is what a cell sees while nothing is changed.
type sight struct {
	Cell    string  `json:"cell"`
	Seconds float64 `json:"seconds"`
	// Red is why the cell is of no use. If unset, all of its checks hold.
	Red string `json:"red,omitempty"`
	// Mutants are the ids of those that would have made a difference.
	Mutants []int `json:"mutants"`
}

// trial is one mutant in one cell.
type trial struct {
	Mutant int    `json:"mutant"`
	Cell   string `json:"cell"`
	// Found is the check that is red. If unset, the mutant was not noticed.
	Found string `json:"found,omitempty"`
	// Unclear is true if the machine was too slow to say.
	Unclear bool `json:"unclear,omitempty"`
}

func newScore(ctx context.Context, t target) *score {
	GinkgoHelper()
	s := &score{target: t, dir: *scoreDir, builder: new(build.Builder)}
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

// scrape is a look at counters after which another cell may have the rig: it
// asks for those of its own pods, which end with them.
type scrape struct{ action.Scrape }

// Keeps implements action.Keeper.
func (scrape) Keeps(func(string) bool) bool { return true }

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
	results, err := rig.engine(nil).Run(ctx, []plan.Cell{hurried(cell, unchanged, *scorePatience)})
	if err != nil || ctx.Err() != nil || tooSlow(results[0]) {
		return err
	}
	seen, err := os.ReadFile(rig.seen())
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	v := sight{Cell: cell.ID, Seconds: results[0].DurationSeconds, Red: found(results[0])}
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

// tryNext runs the cell that sees the most mutants in its time, of those that no
// cell has found and this one has not run.
func (s *score) tryNext(ctx context.Context) bool {
	GinkgoHelper()
	var next sight
	var mutants []int
	for _, v := range s.sights.all {
		if left := s.left(v); float64(len(left))/(v.Seconds+5) > float64(len(mutants))/(next.Seconds+5) {
			next, mutants = v, left
		}
	}
	i := slices.IndexFunc(s.cells, func(c plan.Cell) bool { return c.ID == next.Cell })
	if i < 0 {
		return false
	}
	Expect(s.try(ctx, s.cells[i], mutants)).To(Succeed())
	return true
}

// left are the mutants that a cell sees, and that are to be tried in it.
func (s *score) left(v sight) (left []int) {
	if v.Red != "" || !slices.ContainsFunc(s.cells, func(c plan.Cell) bool { return c.ID == v.Cell }) {
		return nil
	}
	for _, id := range v.Mutants {
		unclear := 0
		done := slices.ContainsFunc(s.trials.all, func(t trial) bool {
			if t.Mutant == id && t.Cell == v.Cell && t.Unclear {
				unclear++
			}
			return t.Mutant == id && (t.Found != "" || t.Cell == v.Cell && !t.Unclear) || unclear > 2
		})
		if !done {
			left = append(left, id)
		}
	}
	return left
}

// try runs one cell with mutants, on several rigs at the same time. Those that
// make a difference when the component starts have a rig of their own.
func (s *score) try(ctx context.Context, cell plan.Cell, ids []int) error {
	fmt.Fprintf(GinkgoWriter, "%s: %d mutants\n", cell.ID, len(ids))
	var chunks [][]int
	var shared []int
	for _, id := range ids {
		if slices.Contains(s.once, s.mutants[id-1].Func) {
			chunks = append(chunks, []int{id})
		} else {
			shared = append(shared, id)
		}
	}
	if size := (len(shared) + *scoreParallel - 1) / *scoreParallel; size > 0 {
		for chunk := range slices.Chunk(shared, size) {
			chunks = append(chunks, withControls(chunk))
		}
	}
	slices.SortStableFunc(chunks, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	var group errgroup.Group
	group.SetLimit(*scoreParallel)
	for _, chunk := range chunks {
		group.Go(func() error { return s.tryOn(ctx, cell, chunk) })
	}
	return group.Wait()
}

// withControls has the component as it was released in its place among the
// mutants: what they leave behind must not turn it red.
func withControls(ids []int) (all []int) {
	for chunk := range slices.Chunk(ids, 8) {
		all = append(append(all, chunk...), 0)
	}
	return all
}

// again tells the controls of a rig apart.
func again(before []int, id int) string {
	n := 0
	for _, b := range before {
		if b == id {
			n++
		}
	}
	return strings.Repeat("-again", n)
}

// tryOn runs a cell with one mutant after the other.
func (s *score) tryOn(ctx context.Context, cell plan.Cell, ids []int) error {
	if ctx.Err() != nil {
		return nil
	}
	rig, err := s.newRig()
	if err != nil {
		return err
	}
	defer os.RemoveAll(rig.dir)
	of := make(map[string]int)
	var cells []plan.Cell
	for i, id := range ids {
		mutant := hurried(cell, fmt.Sprint(id)+again(ids[:i], id), *scorePatience)
		of[mutant.ID] = id
		cells = append(cells, mutant)
	}
	e := rig.engine(func(p engine.Progress) {
		switch {
		case p.Result != nil && ctx.Err() == nil:
			s.keep(trialOf(of[p.Cell.ID], cell.ID, *p.Result), *p.Result)
		case p.Step == nil:
			rig.become(of[p.Cell.ID])
		}
	})
	_, err = e.Run(ctx, cells)
	return err
}

func trialOf(id int, cell string, r reports.Cell) trial {
	t := trial{Mutant: id, Cell: cell, Found: found(r)}
	switch {
	case t.Found != "":
	case r.Outcome == reports.HarnessError && strings.Contains(r.Reason, "kubelet") && strings.Contains(r.Reason, "exit"):
		t.Found = "the component ended"
	default:
		t.Unclear = r.Outcome != reports.Pass
	}
	return t
}

func (s *score) keep(t trial, r reports.Cell) {
	defer GinkgoRecover()
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(GinkgoWriter, "  %4d %5.1f s %s%s\n", t.Mutant, r.DurationSeconds, t.Found, map[bool]string{true: "? " + r.Reason}[t.Unclear])
	Expect(s.trials.add(t)).To(Succeed())
}

// summarize writes what came of each mutant.
func (s *score) summarize() {
	GinkgoHelper()
	for _, t := range s.trials.all {
		Expect(t.Mutant > 0 || t.Found == "").To(BeTrue(), "%s finds what is not changed: %s", t.Cell, t.Found)
	}
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
	for _, v := range s.sights.all {
		if v.Red == "" && slices.Contains(v.Mutants, m.ID) {
			r.Outcome, r.Why = mutation.Survived, fmt.Sprintf("Cells that were run: %d", s.tried(m.ID))
		}
	}
	for _, t := range s.trials.all {
		if t.Mutant == m.ID && t.Found != "" {
			r.Outcome, r.Why = mutation.Killed, t.Cell+": "+t.Found
		}
	}
	if r.Outcome == mutation.Survived && s.tried(m.ID) == 0 {
		r.Outcome, r.Why = mutation.Untried, ""
	}
	return r
}

// tried is how many cells have not found a mutant.
func (s *score) tried(id int) (n int) {
	for _, t := range s.trials.all {
		if t.Mutant == id && !t.Unclear {
			n++
		}
	}
	return n
}

// rig is where one engine runs the component with its mutants.
type rig struct {
	*score

	dir string
}

func (s *score) newRig() (rig, error) {
	dir, err := os.MkdirTemp("", "skewrig-mutants-")
	if err != nil {
		return rig{}, err
	}
	r := rig{s, dir}
	script := fmt.Sprintf("#!/bin/sh\nSKEWRIG_MUTANT=%s SKEWRIG_MUTANTS_SEEN=%s exec %s \"$@\"\n", r.page(), r.seen(), s.binary.Path)
	r.become(0)
	return r, os.WriteFile(r.wrapper(), []byte(script), 0o700) //nolint:gosec // it is to be run
}

func (r rig) page() string    { return filepath.Join(r.dir, "mutant") }
func (r rig) seen() string    { return filepath.Join(r.dir, "seen") }
func (r rig) wrapper() string { return filepath.Join(r.dir, "component") }

// become makes the component another mutant, at once if it runs. The file is
// never shorter: the component has it in memory.
func (r rig) become(id int) {
	defer GinkgoRecover()
	GinkgoHelper()
	f, err := os.OpenFile(r.page(), os.O_CREATE|os.O_WRONLY, 0o600)
	Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	_, err = f.WriteAt(fmt.Appendf(nil, "%-8d", id), 0)
	Expect(err).NotTo(HaveOccurred())
}

func (r rig) engine(progress func(engine.Progress)) *engine.Engine {
	return &engine.Engine{Dir: filepath.Join(r.dir, "report"), FailFast: true, Progress: progress, Binary: r.find}
}

// find returns the component with the mutants, and others as they are.
func (r rig) find(ctx context.Context, t build.Target) (build.Binary, error) {
	if t.Component == r.component && t.Version == r.version && len(t.Overlay) == 0 && !t.Clock {
		changed := r.binary
		changed.Path = r.wrapper()
		return changed, nil
	}
	return r.builder.Binary(ctx, t)
}
