package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/contrast"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// runner is a run of cells, once or several times each. While it lasts, a partial
// report is in its directory, and a whole one at the end.
type runner struct {
	cells []plan.Cell
	dir   string
	*assembler
	shard reports.Shard
	// repeat is how many times each cell runs; with untilFail, at most: a cell that
	// was not as expected is not run again.
	repeat    int
	untilFail bool
	parallel  int
	// round runs cells once each. The files go to a directory that looks as that of
	// a report.
	round func(ctx context.Context, dir string, parallel int, cells []plan.Cell, tell func(engine.Progress)) error
	// tell is told what rounds tell, one at a time. A cell's id says which run it is.
	tell func(engine.Progress)

	mu   sync.Mutex
	news chan struct{} // has room for one
	ran  []ranCell
	bad  map[string]bool // cells of which a run was not as expected
	not  []reports.Cell  // what is said of cells that have not run
}

// run runs all cells and returns the report of it. An interrupt ends it early, and
// is no error.
func (s *runner) run(ctx context.Context) (reports.Report, error) {
	var err error
	if s.not, err = engine.NotRun(s.cells, "the run did not get that far"); err != nil {
		return reports.Report{}, err
	}
	s.news, s.bad = make(chan struct{}, 1), make(map[string]bool)
	if err := s.draft(); err != nil {
		return reports.Report{}, app.Failed(fmt.Errorf("writing the report: %w", err))
	}
	stop := keep(s.news, s.draft)
	err = s.rounds(ctx)
	stop()
	if err != nil {
		return reports.Report{}, err
	}
	report, err := s.report("the run was broken off")
	if err != nil {
		return report, app.Failed(err)
	}
	compareRuns(s.dir, &report)
	return report, nil
}

// rounds runs the cells until there is nothing left to do. Where there are fewer
// cells than may run at the same time, several rounds do.
func (s *runner) rounds(ctx context.Context) error {
	todo := s.cells
	for first := 1; first <= s.repeat && len(todo) > 0 && ctx.Err() == nil; {
		together := min(max(1, s.parallel/len(todo)), s.repeat-first+1)
		errs := make([]error, together)
		var running sync.WaitGroup
		for i := range together {
			running.Go(func() {
				number := first + i
				dir := filepath.Join(s.dir, filepath.FromSlash(reports.RoundDir(number)))
				errs[i] = s.round(ctx, dir, max(1, s.parallel/together), todo, func(p engine.Progress) { s.told(number, p) })
			})
		}
		running.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		first += together
		if s.untilFail {
			todo = slices.DeleteFunc(slices.Clone(todo), func(c plan.Cell) bool { return s.bad[c.ID] })
		}
	}
	return nil
}

// told takes news of a round.
func (s *runner) told(number int, p engine.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Result == nil {
		s.tell(labelled(p, number))
		return
	}
	s.ran = append(s.ran, ranCell{number, *p.Result})
	result := s.known.excuse(*p.Result)
	s.bad[result.ID] = s.bad[result.ID] || !result.Outcome.Expected() && !result.Unfinished
	select {
	case s.news <- struct{}{}:
	default: // there is news already
	}
	p.Result = &result
	s.tell(labelled(p, number))
}

// labelled has the ids of a cell say which run it is.
func labelled(p engine.Progress, number int) engine.Progress {
	p.Cell.ID = runLabel(p.Cell.ID, number)
	if p.Result != nil {
		result := *p.Result
		result.ID = p.Cell.ID
		p.Result = &result
	}
	return p
}

// runLabel is what a run of a cell is called: the first one as the cell.
func runLabel(id string, number int) string {
	if number == 1 {
		return id
	}
	return fmt.Sprintf("%s (run %d)", id, number)
}

// runLabels are those of all runs of cells.
func runLabels(cells []plan.Cell, repeat int) []string {
	var labels []string
	for number := range repeat {
		for _, c := range cells {
			labels = append(labels, runLabel(c.ID, number+1))
		}
	}
	return labels
}

// report is the report of what has run so far. If that is not everything, it is
// partial, and says why.
func (s *runner) report(why string) (reports.Report, error) {
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
	short := 0
	for i, c := range s.cells {
		enough := finished[c.ID] == s.repeat || s.untilFail && bad[c.ID]
		if !enough {
			short++
		}
		if !there[c.ID] {
			ran = append(ran, ranCell{1, s.not[i]})
		}
	}
	report, err := s.assemble(ran)
	report.Shard = s.shard
	if short > 0 {
		report.Partial = fmt.Sprintf("%s: %d of %d cells did not run to their end", why, short, len(s.cells))
		if s.repeat > 1 {
			report.Partial += fmt.Sprintf(" %d times", s.repeat)
		}
	}
	return report, err
}

// draft writes a report of what has run so far. Other formats than JSON are for
// whole reports.
func (s *runner) draft() error {
	report, err := s.report("the run was not over when this was written")
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if err := render.JSON(&content, report); err != nil {
		return err
	}
	return render.WriteFile(s.dir, render.JSONFile, content.Bytes())
}

// draftPause is how long there is between two drafts. It is as much longer as it
// takes for them to be a twentieth of the time.
const draftPause = time.Second

// keep writes a draft when there is news, but not all the time, until it is
// stopped. A draft that can't be written is left to the next one, and to the whole
// report at the end, which tells.
func keep(news <-chan struct{}, draft func() error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-news:
			}
			began := time.Now()
			_ = draft()
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(draftPause, 20*time.Since(began))):
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// compareRuns finds where good and bad runs of cells part, in the histories below
// a report's directory. Where one can't be read, that is a problem of the report.
func compareRuns(dir string, report *reports.Report) {
	for i, c := range report.Cells {
		if c.Rate.Failed == 0 || c.Rate.Failed == c.Rate.Runs {
			continue
		}
		var runs []contrast.Run
		for _, r := range c.Runs {
			if !r.Outcome.Judged() {
				continue
			}
			events, err := engine.History(filepath.Join(dir, filepath.FromSlash(reports.RoundDir(r.Number))), c.ID)
			if err != nil {
				report.Problems = append(report.Problems, fmt.Sprintf("it is not known where runs of cell %s part: %v", c.ID, err))
				continue
			}
			runs = append(runs, contrast.Run{Bad: r.Outcome.Nonconforming(), Events: events, Checks: r.Checks})
		}
		report.Cells[i].Differs = contrast.Find(runs)
	}
}
