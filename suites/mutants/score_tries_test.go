package mutants

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// perControl is how many mutants share a rig before nothing is changed, and all
// checks must hold.
const perControl = 8

// chunk is what runs on one rig: mutants in one cell, one after the other.
type chunk struct {
	cell plan.Cell
	ids  []int
	// controlled is true if the mutants share the rig: a control follows them.
	controlled bool
}

// tryAll runs each mutant that is left in the cell that is the most likely to find it
// in its time, until there is none.
func (s *score) tryAll(ctx context.Context) {
	GinkgoHelper()
	var group errgroup.Group
	for range *scoreParallel {
		group.Go(func() error {
			for ctx.Err() == nil {
				c, is := s.take()
				if !is {
					return nil
				}
				if err := s.try(ctx, c); err != nil {
					return err
				}
				s.give(c)
			}
			return nil
		})
	}
	Expect(group.Wait()).To(Succeed())
}

// take has a chunk be run by one who asks, and by no other until it is given back.
func (s *score) take() (chunk, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chunks := s.next()
	if len(chunks) == 0 {
		return chunk{}, false
	}
	for _, id := range chunks[0].ids {
		s.running[id] = true
	}
	return chunks[0], true
}

func (s *score) give(c chunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range c.ids {
		delete(s.running, id)
	}
}

// next is what is to be run now. Mutants of some functions have a rig of their own,
// and so do those that were unclear. Those that are said to be equivalent are last.
func (s *score) next() (chunks []chunk) {
	groups, last := make(map[string][]int), make(map[string][]int)
	for _, m := range s.mutants {
		if v, is := s.best(m.ID); !is || s.running[m.ID] {
			continue
		} else if s.equivalent[m.ID] {
			last[v.Cell] = append(last[v.Cell], m.ID)
		} else {
			groups[v.Cell] = append(groups[v.Cell], m.ID)
		}
	}
	if len(groups) == 0 {
		groups = last
	}
	for _, cell := range s.cells {
		var shared []int
		for _, id := range groups[cell.ID] {
			if slices.Contains(s.once, s.mutants[id-1].Func) || s.unclear(id, cell.ID) > 0 {
				chunks = append(chunks, chunk{cell, []int{id}, false})
			} else {
				shared = append(shared, id)
			}
		}
		for ids := range slices.Chunk(shared, perControl) {
			chunks = append(chunks, chunk{cell, ids, true})
		}
	}
	slices.SortStableFunc(chunks, func(a, b chunk) int { return cmp.Compare(len(b.ids), len(a.ids)) })
	return chunks
}

// best is the cell in which a mutant runs next, if there is one: the most likely one
// in its time, of those that see the mutant and have not run it.
func (s *score) best(id int) (best sight, is bool) {
	tried, most := 0, 0.0
	for _, t := range s.trials.all {
		if t.Mutant == id && s.kills(t) {
			return sight{}, false
		}
		if t.Mutant == id && !t.Unclear {
			tried++
		}
	}
	if tried >= *scoreTries {
		return sight{}, false
	}
	for _, v := range s.sights.all {
		if v.sees(id) && s.runs(v.Cell) && !s.done(id, v.Cell) {
			if likely := s.likely(id, v) / (v.Seconds + 5); likely > most {
				best, is, most = v, true, likely
			}
		}
	}
	return best, is
}

// likely compares cells: one with many checks, and one that has found others of the
// function, may find a mutant. Of a mutant that few cells see, those that see what few
// others see around it are about it.
func (s *score) likely(id int, v sight) float64 {
	about, found, run := 1.0, 1.0, 2.0
	m := s.mutants[id-1]
	for _, other := range v.Mutants {
		if o := s.mutants[other-1]; o.Func == m.Func && max(o.Line-m.Line, m.Line-o.Line) <= 10 && 2*s.seers[id] < len(s.sights.all) {
			about += 1 / float64(s.seers[other])
		}
	}
	for _, t := range s.trials.all {
		if t.Cell == v.Cell && t.Mutant > 0 && s.mutants[t.Mutant-1].Func == m.Func && !t.Unclear {
			run++
			if s.kills(t) {
				found++
			}
		}
	}
	return float64(s.checks(v.Cell)) * about * found / run
}

// checks is how many checks a cell has.
func (s *score) checks(id string) (n int) {
	for _, c := range s.cells {
		for _, step := range c.Steps {
			if c.ID == id {
				n += len(step.Checks())
			}
		}
	}
	return n
}

// done reports whether a cell has run a mutant, or can't say.
func (s *score) done(id int, cell string) bool {
	return s.unclear(id, cell) > 2 || slices.ContainsFunc(s.trials.all, func(t trial) bool {
		return t.Mutant == id && t.Cell == cell && !t.Unclear
	})
}

func (s *score) unclear(id int, cell string) (n int) {
	for _, t := range s.trials.all {
		if t.Mutant == id && t.Cell == cell && t.Unclear {
			n++
		}
	}
	return n
}

func (s *score) runs(cell string) bool {
	return slices.ContainsFunc(s.cells, func(c plan.Cell) bool { return c.ID == cell })
}

// kills reports whether a trial has found its mutant. What a check finds that was
// red in a control of the cell doesn't count.
func (s *score) kills(t trial) bool {
	return t.Found != "" && !t.Unclear && !slices.ContainsFunc(s.trials.all, func(c trial) bool {
		return c.Mutant == 0 && c.Cell == t.Cell && c.Found == t.Found
	})
}

func (v sight) sees(id int) bool { return v.Red == "" && slices.Contains(v.Mutants, id) }

// try runs one cell with one mutant after the other. They count once the control
// after them holds.
func (s *score) try(ctx context.Context, c chunk) error {
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
	ids := c.ids
	if c.controlled {
		ids = append(slices.Clone(ids), 0)
	}
	for _, id := range ids {
		mutant := hurried(c.cell, fmt.Sprint(id), s.patience)
		of[mutant.ID] = id
		cells = append(cells, mutant)
	}
	var trials []trial
	e := rig.engine(func(p engine.Progress) {
		switch {
		case p.Result != nil && ctx.Err() == nil:
			trials = append(trials, s.trialOf(of[p.Cell.ID], c.cell.ID, *p.Result))
		case p.Step == nil:
			rig.become(of[p.Cell.ID])
		}
	})
	if _, err := e.Run(ctx, cells); err != nil || ctx.Err() != nil {
		return err
	}
	return s.keep(held(trials, c.controlled))
}

// held has all trials unclear if the control, which is the last, does not hold.
func held(trials []trial, controlled bool) []trial {
	if control := trials[len(trials)-1]; controlled && (control.Found != "" || control.Unclear) {
		for i := range trials[:len(trials)-1] {
			trials[i].Unclear = true
		}
	}
	return trials
}

func (s *score) trialOf(id int, cell string, r reports.Cell) trial {
	t := trial{Mutant: id, Cell: cell, Digest: s.digests[cell], Found: found(r)}
	switch {
	case t.Found != "":
	case r.Outcome == reports.HarnessError && strings.Contains(r.Reason, string(s.component)) && strings.Contains(r.Reason, "exit"):
		t.Found = "the component ended"
	default:
		t.Unclear = r.Outcome != reports.Pass
	}
	fmt.Fprintf(GinkgoWriter, "  %4d %5.1f s %s %s%s\n", id, r.DurationSeconds, cell, t.Found, map[bool]string{true: "? " + r.Reason}[t.Unclear])
	return t
}

func (s *score) keep(trials []trial) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range trials {
		if err := s.trials.add(t); err != nil {
			return err
		}
	}
	return nil
}
