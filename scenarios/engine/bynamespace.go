package engine

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/record"
)

// byNamespace is the recorder of a cluster that several cells use: what it gets goes to the cell
// whose namespace it is about. A loss that is about none goes to all, also those to come.
type byNamespace struct {
	mu    sync.Mutex
	cells map[string]guest // by the suffixes of their namespaces
	gaps  []shown          // losses that last and are no cell's
}

// guest is a cell on a cluster.
type guest struct {
	history *record.History
	// ended gets a component that has ended by itself.
	ended func(component string, end kind.End)
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

// join has the record of a cell get what happens in its namespaces, until leave is called.
func (b *byNamespace) join(suffix string, cell guest) (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cells == nil {
		b.cells = make(map[string]guest)
	}
	b.cells[suffix] = cell
	for _, gap := range b.gaps {
		cell.history.Append(gap.source, gap.subject, gap.payload)
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.cells, suffix)
	}
}
