package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// walks are the groups of the cells that change a control plane. Those that take the same
// one through the same changes walk in step, and also those that go only a part of the way.
func walks(cells []plan.Cell, changing []int, most int) (all []group) {
	type walker struct {
		at     int
		key    string
		way    []string
		inStep bool
	}
	var walkers []walker
	for _, i := range changing {
		w := walker{at: i}
		w.key, _ = shares(cells[i])
		w.way, w.inStep = way(cells[i])
		walkers = append(walkers, w)
	}
	slices.SortFunc(walkers, func(a, b walker) int {
		return cmp.Or(cmp.Compare(a.key, b.key), slices.Compare(a.way, b.way), cmp.Compare(cells[a.at].ID, cells[b.at].ID))
	})
	var last walker
	for _, w := range walkers {
		joins := last.inStep && w.inStep && last.key == w.key && len(all[len(all)-1].walk) < most &&
			len(last.way) <= len(w.way) && slices.Equal(last.way, w.way[:len(last.way)])
		if joins {
			all[len(all)-1].walk = append(all[len(all)-1].walk, w.at)
		} else {
			all = append(all, group{key: w.key, walk: []int{w.at}})
		}
		last = w
	}
	return all
}

// way is how a cell changes its control plane, and whether others may take it through the same
// changes: without them, the cell could be beside others, and each comes at its place.
func way(cell plan.Cell) (changes []string, inStep bool) {
	inStep = true
	without := cell
	without.Steps = nil
	for _, step := range cell.Steps {
		if action.ReachOf(step.Action) != action.ReachChanges {
			without.Steps = append(without.Steps, step)
			continue
		}
		changes = append(changes, fmt.Sprintf("%T %s", step.Action, step.Action.Describe()))
		if roll, is := step.Action.(action.Roll); is {
			for _, restart := range roll.Restarts {
				changes = append(changes, restart.Describe())
			}
		}
		inStep = inStep && step.Run == "" && !watchesEnd(step.Action)
	}
	_, reach := shares(without)
	return changes, inStep && reach == action.ReachOwn
}

// watchesEnd reports whether a cell watches how a component ends.
func watchesEnd(a action.Action) bool {
	stop, is := a.(action.Stop)
	return is && stop.Within != 0
}

// walk is where cells meet that change a control plane in step. A change is made when each of
// them has come to it, or has left.
type walk struct {
	mu      sync.Mutex
	walkers int
	arrived int
	turn    *turn
}

// turn is one meeting.
type turn struct {
	all  chan struct{} // has one, once, for one of them, when all are there
	full bool
	done chan struct{} // is closed when that one has acted
	err  error
}

func newWalk(walkers int) *walk { return &walk{walkers: walkers, turn: newTurn()} }

func newTurn() *turn { return &turn{all: make(chan struct{}, 1), done: make(chan struct{})} }

// meet waits until all that walk are there. Then one of them acts, and each gets its error.
func (w *walk) meet(ctx context.Context, act func() error) error {
	w.mu.Lock()
	turn := w.turn
	w.arrived++
	w.check()
	w.mu.Unlock()
	select {
	case <-turn.all:
		turn.err = act()
		w.mu.Lock()
		w.arrived, w.turn = 0, newTurn()
		w.mu.Unlock()
		close(turn.done)
	case <-turn.done:
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.turn == turn {
			w.arrived--
		}
		return context.Cause(ctx)
	}
	return turn.err
}

// leave has the others no longer wait for one of them.
func (w *walk) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.walkers--
	w.check()
}

// check lets one of them act if all are there.
func (w *walk) check() {
	if w.arrived > 0 && w.arrived == w.walkers && !w.turn.full {
		w.turn.full = true
		w.turn.all <- struct{}{}
	}
}
