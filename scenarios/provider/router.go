package provider

import (
	"slices"
	"sync"

	"github.com/skewrig/skewrig/record"
)

// Router is the recorder of what several tenants share. What it gets goes into the history of the tenant that it is about,
// or of all tenants if it is about what they share. A tenant gets nothing of its neighbors.
type Router struct {
	// Owner returns the suffix in the names of the tenant that an event is about. It is empty if it is about none.
	Owner func(subject string, payload record.Payload) string
	// Drops reports whether an event that is about no tenant goes into no history. If unset, it goes into all.
	Drops func(record.Payload) bool

	mu      sync.Mutex
	tenants map[string]recipient // by the suffixes of their names
	// latest are the components, and the objects that are no tenant's, as they were recorded last, in the order of their
	// first appearance. Every history begins with them.
	latest []event
	// lost are the losses that last.
	lost []event
	// observing is which API server shows the objects, if there are several.
	observing *event
}

// recipient is the history of a tenant, with the resources whose objects it is to have.
type recipient struct {
	history   *record.History
	resources []string
}

type event struct {
	source, subject string
	payload         record.Payload
}

// Join adds a tenant, whose history gets what there is, and what happens until leave is called. It has the objects of
// these resources.
func (r *Router) Join(suffix string, history *record.History, resources []string) (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tenants == nil {
		r.tenants = make(map[string]recipient)
	}
	to := recipient{history, resources}
	r.tenants[suffix] = to
	if r.observing != nil {
		to.append(*r.observing)
	}
	for _, e := range slices.Concat(r.latest, r.lost) {
		to.append(e)
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.tenants, suffix)
	}
}

// Append implements record.Recorder.
func (r *Router) Append(source, subject string, payload record.Payload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := event{source, subject, payload}
	if owner := r.Owner(subject, payload); owner != "" {
		if to, joined := r.tenants[owner]; joined {
			to.append(e)
		}
		return
	}
	if r.Drops != nil && r.Drops(payload) {
		return
	}
	r.remember(e)
	for _, to := range r.tenants {
		to.append(e)
	}
}

// remember stores what the history of a later tenant begins with.
func (r *Router) remember(e event) {
	at := slices.IndexFunc(r.latest, func(known event) bool { return known.subject == e.subject })
	switch p := e.payload.(type) {
	case record.Observing:
		r.observing = &e
		return
	case record.ObservationLost:
		r.lost = lasting(r.lost, e, p)
		return
	case record.ObjectObserved:
		if p.Change == record.Deleted {
			if at >= 0 {
				r.latest = slices.Delete(r.latest, at, at+1)
			}
			return
		}
	case record.ComponentStarted, record.ComponentStopped:
	default:
		return
	}
	if at >= 0 {
		r.latest[at] = e
	} else {
		r.latest = append(r.latest, e)
	}
}

func (to recipient) append(e event) {
	if object, is := e.payload.(record.ObjectObserved); is && !slices.Contains(to.resources, object.Resource) {
		return
	}
	to.history.Append(e.source, e.subject, e.payload)
}

// lasting returns the losses that last after one more was recorded.
func lasting(all []event, e event, lost record.ObservationLost) []event {
	if !lost.Resumed {
		return append(all, e)
	}
	return slices.DeleteFunc(all, func(before event) bool {
		began, is := before.payload.(record.ObservationLost)
		return is && before.subject == e.subject && slices.Equal(began.Kinds, lost.Kinds)
	})
}
