package engine

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/skewrig/skewrig/fakeservers/container/collect"
	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/record"
)

// byNamespace is the recorder of a cluster that several cells use: what it gets goes to the cell
// whose namespace it is about. A loss that is about none goes to all, also those to come.
type byNamespace struct {
	mu    sync.Mutex
	cells map[string]guest  // by the suffixes of their namespaces
	ids   map[string]string // of all cells that ever came, likewise
	deaf  error             // what of the cluster is not heard of any more
	gaps  []shown           // losses that last and are no cell's
}

// guest is a cell on a cluster.
type guest struct {
	id      string // of the cell
	history *record.History
	// ended is told of a component that has ended by itself.
	ended func(component string, end kind.End)
	// lost is told of what is not heard of any more.
	lost func(error)
}

// Append implements record.Recorder.
func (b *byNamespace) Append(source, subject string, payload record.Payload) {
	namespace, _, _ := strings.Cut(subject, "/")
	lost, isLoss := payload.(record.ObservationLost)
	b.mu.Lock()
	var of, all []*record.History
	for suffix, cell := range b.cells {
		all = append(all, cell.history)
		if strings.HasSuffix(namespace, suffix) {
			of = append(of, cell.history)
		}
	}
	if isLoss && len(of) == 0 { // it may be any cell's
		of = all
		b.gaps = lasting(b.gaps, shown{source, subject, payload}, lost)
	}
	b.mu.Unlock()
	for _, history := range of {
		history.Append(source, subject, payload)
	}
}

// ended tells all cells that a component has ended by itself.
func (b *byNamespace) ended(component string, end kind.End) {
	b.mu.Lock()
	all := slices.Collect(maps.Values(b.cells))
	b.mu.Unlock()
	for _, cell := range all {
		cell.ended(component, end)
	}
}

// lost tells all cells, also those to come, that something of the cluster is not heard of any more.
func (b *byNamespace) lost(err error) {
	b.mu.Lock()
	b.deaf = errors.Join(b.deaf, err)
	all := slices.Collect(maps.Values(b.cells))
	b.mu.Unlock()
	for _, cell := range all {
		cell.lost(err)
	}
}

// join has the record of a cell get what happens in its namespaces, until leave is called.
func (b *byNamespace) join(suffix string, cell guest) (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cells == nil {
		b.cells, b.ids = make(map[string]guest), make(map[string]string)
	}
	b.cells[suffix], b.ids[suffix] = cell, cell.id
	for _, gap := range b.gaps {
		cell.history.Append(gap.source, gap.subject, gap.payload)
	}
	if b.deaf != nil {
		cell.lost(b.deaf)
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.cells, suffix)
	}
}

// share is what was lost of the record of each cell, by its id. What may be of any is of all that ever came.
func (b *byNamespace) share(lost []collect.Loss) map[string]error {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make(map[string]error)
	for _, l := range lost {
		namespace, _, _ := strings.Cut(l.Container, "/")
		of := func(suffix string) bool { return strings.HasSuffix(namespace, suffix) }
		known := slices.ContainsFunc(slices.Collect(maps.Keys(b.ids)), of)
		for suffix, id := range b.ids {
			if !known || of(suffix) {
				all[id] = errors.Join(all[id], l)
			}
		}
	}
	return all
}
