package engine

import (
	"context"
	"iter"
	"slices"

	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// asBuilt yields the places of parties of cells: first those of which a cell can begin, in their
// order, then each other one as soon as the components of one of its cells are built, or can't be.
func (b *batch) asBuilt(ctx context.Context, parties [][]int) iter.Seq[int] {
	return func(yield func(int) bool) {
		ready := make(chan int, len(parties))
		waiting := 0
		for at, cells := range parties {
			if slices.ContainsFunc(cells, func(i int) bool { return !b.pending(b.cells[i]) }) {
				if !yield(at) {
					return
				}
				continue
			}
			waiting++
			go func() {
				b.awaitOne(ctx, cells)
				ready <- at
			}()
		}
		for range waiting {
			if !yield(<-ready) {
				return
			}
		}
	}
}

// awaitOne waits until it is settled for one of the cells whether it can begin.
func (b *batch) awaitOne(ctx context.Context, cells []int) {
	settled := make(chan struct{}, len(cells))
	for _, i := range cells {
		go func() {
			_ = provider.Built(ctx, b.cells[i], b.Binary) // the cell finds out, too
			settled <- struct{}{}
		}()
	}
	<-settled
}

// pending reports whether a component that the cell needs is still being built.
func (e *Engine) pending(cell plan.Cell) bool {
	return e.Pending != nil && slices.ContainsFunc(plan.Targets([]plan.Cell{cell}), func(t plan.Target) bool { return e.Pending(provider.Target(t)) })
}

// each are parties of one cell each.
func each(cells []int) [][]int {
	var parties [][]int
	for _, i := range cells {
		parties = append(parties, []int{i})
	}
	return parties
}
