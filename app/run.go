package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate/compare"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

// Options are how cells are run.
type Options struct {
	// Dir is the report directory. An earlier report of the same cells there is
	// replaced.
	Dir string
	// Claimed is the report directory, if the caller has claimed it already; the caller
	// closes it.
	Claimed *ReportDir
	// Binary finds the executable of a component. Builder.Binary does.
	Binary func(context.Context, build.Target) (build.Binary, error)
	// Pending reports whether a component is still being built: other cells begin first then.
	// Builder.Pending does. If unset, none is.
	Pending func(build.Target) bool
	// Built are the components that are built so far, for the report. If unset, Reproduce has
	// them.
	Built func() []build.Binary
	// Catalog says what is known to fail, and what checks prove. If unset, the report says
	// nothing of either.
	Catalog Catalog
	// Reproduce is what the report says of how to run the same again.
	Reproduce reports.Reproduce
	// Shard is the part of a run that the cells are. If unset, they are all.
	Shard reports.Shard
	// Repeat is how many times each cell runs. If unset, once.
	Repeat int
	// UntilFail makes Repeat a limit: a cell that was not as expected is not run
	// again. If unset, each runs so many times.
	UntilFail bool
	// Parallel is how many cells run at the same time that have a control plane of their own;
	// three times as many do that share one. If unset, one cell runs at a time.
	Parallel int
	// Isolate gives each cell a control plane of its own. If unset, cells share one where
	// they can't notice, and what comes out red so runs again alone.
	Isolate bool
	// AllowHost lets cells reach beyond their rigs, to files, programs and addresses of this machine. If
	// unset, those that do are refused.
	AllowHost bool
	// Provider is what the cells run on. If unset, each has a rig.
	Provider Provider
	// Keep is called with the first cell that is not as expected, while its rig is up, and
	// has the rig until it returns. If unset, each rig is taken down at once.
	Keep func(context.Context, reports.Cell, *rig.Rig)
	// Shuffle begins the cells in a random order that it decides, each time in another one. If
	// unset, the longest begin first.
	Shuffle uint64
	// Warm has control planes that stay up from one run to the next. Then no cell runs again
	// alone. If unset, all control planes are the run's own.
	Warm *rig.Warm
	// Progress gets each piece of news, from one goroutine at a time, with what is known
	// to fail marked as such. A cell's id says which run it is. If unset, news is
	// dropped.
	Progress func(engine.Progress)
}

// Provider is what cells run on: ExistingCluster.Open and KindClusters.Open return one.
type Provider = provider.Provider

// Run runs cells and writes the report of that, with its page. While it lasts, a
// partial report is in the directory. An interrupt ends it early, and is no error.
func Run(ctx context.Context, cells []plan.Cell, o Options) (_ reports.Report, err error) {
	if err := CheckOutside(cells, o.Provider != nil, o.AllowHost); err != nil {
		return reports.Report{}, err
	}
	o.Reproduce.AllowHost = o.AllowHost
	s, err := newRunner(cells, o)
	if err != nil {
		return reports.Report{}, err
	}
	if o.Provider == nil {
		if err := errors.Join(engine.CheckFlags(ctx, cells, o.Binary), engine.CheckPeers(ctx, cells, o.Binary)); err != nil {
			return reports.Report{}, err
		}
	}
	done, err := Place{Dir: o.Dir}.begin(o.Claimed, cellIDs(cells))
	if err != nil {
		return reports.Report{}, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return s.run(ctx)
}

// runner is a run of cells, once or several times each.
type runner struct {
	Options
	*assembler
	*drafter
	cells []plan.Cell
	// round runs cells once each, for the time of the given number.
	round func(ctx context.Context, number, parallel int, cells []plan.Cell, tell func(engine.Progress)) error

	mu   sync.Mutex
	ran  []ranCell
	with *comparer
	bad  map[string]bool // cells of which a run was not as expected
	not  []reports.Cell  // what is said of cells that have not run
}

func newRunner(cells []plan.Cell, o Options) (*runner, error) {
	not, err := engine.NotRun(cells, "the run did not get that far")
	if err != nil {
		return nil, err
	}
	o.Repeat, o.Parallel = max(o.Repeat, 1), within(cells, o.Parallel, containerd.Instances())
	if o.Progress == nil {
		o.Progress = func(engine.Progress) {}
	}
	known, err := newAssembler(cells, o.Reproduce.Files, o.Catalog, o.Reproduce)
	if err != nil {
		return nil, err
	}
	unexpected := func(c reports.Cell) bool { return !c.Unfinished && !known.excuse(c).Outcome.Expected() }
	keepRig := o.firstKept(known.excuse)
	r := &runner{
		Options: o, assembler: known, cells: cells, not: not, with: newComparer(o.Dir, cells), bad: make(map[string]bool),
		round: func(ctx context.Context, number, parallel int, cells []plan.Cell, tell func(engine.Progress)) error {
			e := &engine.Engine{
				Binary: o.Binary, Pending: o.Pending, Dir: roundDir(o.Dir, number), Shuffle: shuffle(o.Shuffle, number), Parallel: parallel, Isolate: o.Isolate, AllowHost: o.AllowHost, Provider: o.Provider, Warm: o.Warm, Unexpected: unexpected, Keep: keepRig, Progress: tell,
			}
			_, err := e.Run(ctx, cells)
			return err
		},
	}
	r.drafter = newDrafter(o.Dir, r.report)
	r.complete = func(report *reports.Report) { report.Problems = append(report.Problems, unneeded(cells, *report)...) }
	return r, nil
}

// shuffle is what decides the order of a round.
func shuffle(seed uint64, number int) uint64 {
	if seed == 0 {
		return 0
	}
	return seed + uint64(number) - 1
}

// firstKept is Keep for one rig only, with what is known to fail marked as such. It is nil
// if none is to be kept.
func (o Options) firstKept(excuse func(reports.Cell) reports.Cell) func(context.Context, reports.Cell, *rig.Rig) {
	if o.Keep == nil {
		return nil
	}
	var first sync.Once
	return func(ctx context.Context, c reports.Cell, rig *rig.Rig) {
		first.Do(func() { o.Keep(ctx, excuse(c), rig) })
	}
}

// run runs all cells, and writes the report of it.
func (s *runner) run(ctx context.Context) (reports.Report, error) {
	return s.execute(ctx, func() ([]string, error) {
		if err := s.rounds(ctx); err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, ran := range s.with.rest() {
			s.ended(ran)
		}
		return []string{"the run was broken off"}, nil
	})
}

// rounds runs the cells until there is nothing left to do. Where there are fewer
// cells than may run at the same time, several rounds do.
func (s *runner) rounds(ctx context.Context) error {
	todo := s.cells
	for first := 1; first <= s.Repeat && len(todo) > 0 && ctx.Err() == nil; {
		together := min(max(1, s.Parallel/len(todo)), s.Repeat-first+1)
		errs := make([]error, together)
		var running sync.WaitGroup
		for i := range together {
			running.Go(func() {
				number := first + i
				errs[i] = s.round(ctx, number, max(1, s.Parallel/together), todo, func(p engine.Progress) { s.progress(number, p) })
			})
		}
		running.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		first += together
		if s.UntilFail {
			todo = reports.Only(todo, func(c plan.Cell) bool { return !s.bad[c.ID] })
		}
	}
	return nil
}

// progress takes news of a round.
func (s *runner) progress(number int, p engine.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Cell.ID = runLabel(p.Cell.ID, number)
	if p.Result == nil {
		s.Progress(p)
		return
	}
	for _, ran := range s.with.take(ranCell{number, *p.Result}) {
		s.ended(ran)
	}
}

// ended takes a result that is whole.
func (s *runner) ended(ran ranCell) {
	s.ran = append(s.ran, ran)
	result := s.excuse(ran.result)
	s.bad[result.ID] = s.bad[result.ID] || !result.Outcome.Expected() && !result.Unfinished
	cell := s.with.cells[result.ID]
	cell.ID = runLabel(cell.ID, ran.number)
	result.ID = cell.ID
	s.wake()
	s.Progress(engine.Progress{Cell: cell, Result: &result})
}

// runLabel is what a run of a cell is called: the first one as the cell.
func runLabel(id string, number int) string {
	if number == 1 {
		return id
	}
	return fmt.Sprintf("%s (run %d)", id, number)
}

// report is the report of what has run so far. If that is not everything, it is
// partial, and says why.
func (s *runner) report(why ...string) (reports.Report, error) {
	if s.Built != nil {
		s.reproduce.Components = components(s.Built())
	}
	if s.Provider != nil {
		s.reproduce.Components = s.Provider.Components()
	}
	s.mu.Lock()
	ran, bad := slices.Clone(s.ran), maps.Clone(s.bad)
	s.mu.Unlock()
	there, finished := make(map[string]bool), make(map[string]int)
	for _, r := range ran {
		there[r.result.ID] = true
		if !r.result.Unfinished {
			finished[r.result.ID]++
		}
	}
	missing := make(map[string]int)
	for i, c := range s.cells {
		if finished[c.ID] < s.Repeat && (!s.UntilFail || !bad[c.ID]) {
			missing[c.ID] = s.Repeat - finished[c.ID]
		}
		if !there[c.ID] {
			ran = append(ran, ranCell{1, s.not[i]})
		}
	}
	report, err := s.assemble(ran)
	if s.Built != nil {
		markStandIns(report.Cells, s.cells, s.Built())
	}
	report.Shard = s.Shard
	for i, c := range report.Cells {
		report.Cells[i].MissingRuns = missing[c.ID]
	}
	if short := len(missing); short > 0 {
		report.BrokenOff = fmt.Sprintf("%s: %d of %d cells did not run to their end", strings.Join(why, "; "), short, len(s.cells))
		if s.Repeat > 1 {
			report.BrokenOff += fmt.Sprintf(" %d times", s.Repeat)
		}
		report.Partial = report.BrokenOff
	}
	return report, err
}

// compareRuns finds where good and bad runs of cells part, in the histories below
// a report's directory. Where one can't be read, that is a problem of the report.
func compareRuns(dir string, report *reports.Report) {
	for i, c := range report.Cells {
		if c.Rate.Failed == 0 || c.Rate.Failed == c.Rate.Runs {
			continue
		}
		var runs []compare.Run
		for _, r := range c.Runs {
			if !r.Outcome.Judged() {
				continue
			}
			events, err := engine.History(dir, c.ID, r.Number)
			if err != nil {
				report.Problems = append(report.Problems, fmt.Sprintf("it is not known where runs of cell %s part: %v", c.ID, err))
				continue
			}
			runs = append(runs, compare.Run{Bad: r.Outcome.Nonconforming(), Events: events, Checks: r.Checks})
		}
		report.Cells[i].Differs = compare.Find(runs)
	}
}
