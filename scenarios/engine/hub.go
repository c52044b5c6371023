package engine

import (
	"regexp"
	"slices"
	"sync"

	"github.com/skewrig/skewrig/record"
)

// suffixes is what the suffixes of cells on one control plane look like: like nothing that
// Kubernetes or a scenario makes.
var suffixes = regexp.MustCompile(`-skw[0-9]{4}\b`)

// hub is the recorder of a control plane that several cells use. What it gets goes into the
// record of the cell that it is about, or of all if it is about the control plane. A cell
// gets nothing of its neighbors.
type hub struct {
	mu    sync.Mutex
	cells map[string]listener // by the suffixes of their names
	// shown are the components, and the objects that are no cell's, as they were recorded
	// last, in the order of their first appearance. Every cell's record begins with them.
	shown []shown
	// lost are the losses that last.
	lost []shown
	// observing is which API server shows the objects, if there are several.
	observing *shown
}

// listener is a cell's record, with the resources whose objects it is to have.
type listener struct {
	history   *record.History
	resources []string
}

type shown struct {
	source, subject string
	payload         record.Payload
}

var _ record.Recorder = (*hub)(nil)

func newHub() *hub { return &hub{cells: make(map[string]listener)} }

// join has a cell hear of what happens, first of all of what there is.
func (h *hub) join(suffix string, l listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cells[suffix] = l
	if h.observing != nil {
		l.hear(*h.observing)
	}
	for _, s := range slices.Concat(h.shown, h.lost) {
		l.hear(s)
	}
}

// leave has a cell hear no more.
func (h *hub) leave(suffix string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.cells, suffix)
}

// Append implements record.Recorder.
func (h *hub) Append(source, subject string, payload record.Payload) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := shown{source, subject, payload}
	if owner := ownerOf(payload); owner != "" {
		if l, there := h.cells[owner]; there {
			l.hear(s)
		}
		return
	}
	h.keep(s)
	for _, l := range h.cells {
		l.hear(s)
	}
}

// keep remembers what a later cell's record begins with.
func (h *hub) keep(s shown) {
	if _, is := s.payload.(record.Observing); is {
		h.observing = &s
		return
	}
	if lost, is := s.payload.(record.ObservationLost); is {
		h.lost = lasting(h.lost, s, lost)
		return
	}
	at := slices.IndexFunc(h.shown, func(known shown) bool { return known.subject == s.subject })
	object, isObject := s.payload.(record.ObjectObserved)
	switch {
	case isObject && object.Change == record.Deleted:
		if at >= 0 {
			h.shown = slices.Delete(h.shown, at, at+1)
		}
	case !isObject && !ofComponent(s.payload):
	case at >= 0:
		h.shown[at] = s
	default:
		h.shown = append(h.shown, s)
	}
}

func (l listener) hear(s shown) {
	if object, is := s.payload.(record.ObjectObserved); is && !slices.Contains(l.resources, object.Resource) {
		return
	}
	l.history.Append(s.source, s.subject, s.payload)
}

// ownerOf is the suffix of the cell that an object is of. It is empty for what is no
// cell's.
func ownerOf(payload record.Payload) string {
	object, is := payload.(record.ObjectObserved)
	if !is {
		return ""
	}
	if of := suffixes.FindString(object.Namespace); of != "" {
		return of
	}
	return suffixes.FindString(object.Name)
}

// ofComponent reports whether a payload says that a component runs, or does not.
func ofComponent(payload record.Payload) bool {
	switch payload.(type) {
	case record.ComponentStarted, record.ComponentStopped:
		return true
	default:
		return false
	}
}

// lasting are the losses that last after another one was recorded: a later cell's record begins with them.
func lasting(all []shown, s shown, lost record.ObservationLost) []shown {
	if !lost.Resumed {
		return append(all, s)
	}
	return slices.DeleteFunc(all, func(before shown) bool {
		began, is := before.payload.(record.ObservationLost)
		return is && before.subject == s.subject && slices.Equal(began.Kinds, lost.Kinds)
	})
}
