package engine

import (
	"strings"
	"sync"

	"github.com/skewrig/skewrig/record"
)

// byNamespace is the recorder of a cluster that several cells use: what it gets goes to the cell
// whose namespace it is about, or to nobody.
type byNamespace struct {
	mu    sync.Mutex
	cells map[string]*record.History // by the suffixes of their namespaces
}

// Append implements record.Recorder.
func (b *byNamespace) Append(source, subject string, payload record.Payload) {
	namespace, _, _ := strings.Cut(subject, "/")
	b.mu.Lock()
	var of *record.History
	for suffix, history := range b.cells {
		if strings.HasSuffix(namespace, suffix) {
			of = history
		}
	}
	b.mu.Unlock()
	if of != nil {
		of.Append(source, subject, payload)
	}
}

// join has the record of a cell get what happens in its namespaces, until leave is called.
func (b *byNamespace) join(suffix string, history *record.History) (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cells[suffix] = history
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.cells, suffix)
	}
}
