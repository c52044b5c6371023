package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/law"
)

// writes counts how often objects are written, by their subjects.
type writes struct {
	count map[string]int
	at    map[string]time.Time // the last one of each
	last  time.Time            // of all
}

// newWrites returns an empty count. Until an object is written, its last write is when it began.
func newWrites(began time.Time) *writes {
	return &writes{count: make(map[string]int), at: make(map[string]time.Time), last: began}
}

// add adds those of events that were recorded until now.
func (w *writes) add(events []record.Event, now time.Time) {
	for _, e := range events {
		if isWrite(e) {
			w.count[e.Subject]++
			w.at[e.Subject], w.last = now, now
		}
	}
}

// areEndless reports whether all objects that are still written were written too often already.
func (w *writes) areEndless() bool {
	for subject, at := range w.at {
		if w.last.Sub(at) < still && w.count[subject] <= law.MaxWrites {
			return false
		}
	}
	return len(w.at) > 0
}

// isWrite reports whether an event says that an object was written, other than those that components write for ever.
func isWrite(e record.Event) bool {
	if e.Kind != (record.ObjectObserved{}).EventKind() {
		return false
	}
	resource, _, _ := strings.Cut(e.Subject, "/")
	return !slices.Contains([]string{"events", "nodes", "leases"}, resource)
}
