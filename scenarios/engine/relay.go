package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/skewrig/skewrig/record"
)

// relay is the recorder of a rig that has several cells. What it gets goes
// into the record of the cell that has the rig, unless it is about something
// that was there before that cell.
type relay struct {
	mu      sync.Mutex
	cell    *record.History // nil: no cell has the rig
	changed chan struct{}
	// made are the components and nodes as they were told last, in the order of
	// their first appearance: the beginning of every cell's record.
	made []told
	// live are the objects and containers that are there, current all that was
	// there since the cell began, and earlier what was before.
	live, current, earlier map[string]bool
	// gone are those that were there.
	gone map[string]bool
}

type told struct {
	source, subject string
	payload         record.Payload
}

func newRelay(first *record.History) *relay {
	return &relay{
		cell: first, changed: make(chan struct{}),
		live: make(map[string]bool), current: make(map[string]bool), earlier: make(map[string]bool),
		gone: make(map[string]bool),
	}
}

var _ record.Recorder = (*relay)(nil)

// Append implements record.Recorder.
func (r *relay) Append(source, subject string, payload record.Payload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := told{source, subject, payload}
	if isPartOfRig(payload) {
		r.keep(t)
		r.cell.Append(source, subject, payload)
		return
	}
	id, is := identify(payload)
	r.follow(id, is)
	if !r.earlier[id] {
		r.current[id] = id != ""
		r.cell.Append(source, subject, payload)
	}
}

func (r *relay) keep(t told) {
	for i, known := range r.made {
		if known.subject == t.subject {
			r.made[i] = t
			return
		}
	}
	r.made = append(r.made, t)
}

// expect says that an object exists that may not be recorded yet, and
// that it is no later cell's.
func (r *relay) expect(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.gone[id] {
		r.live[id] = true
	}
	r.earlier[id] = true
}

func (r *relay) follow(id string, is presence) {
	switch is {
	case there:
		r.live[id] = true
	case gone:
		delete(r.live, id)
		r.gone[id] = true
	default:
		return
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// to gives the rig to a cell, or to none. A cell's record begins with what the
// rig is made of.
func (r *relay) to(cell *record.History) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, is := range r.current {
		if is {
			r.earlier[id] = true
		}
	}
	clear(r.current)
	r.cell = cell
	for _, t := range r.made {
		r.cell.Append(t.source, t.subject, t.payload)
	}
}

// sweepBegins takes all that is there for something to be swept.
func (r *relay) sweepBegins() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.live {
		r.earlier[id] = true
	}
}

// awaitEmpty returns when there are no objects and no containers, or, with false,
// when there is one that the sweep did not begin with.
func (r *relay) awaitEmpty(ctx context.Context) (empty bool, err error) {
	for {
		left, fresh, changed := r.look()
		if left == 0 || fresh {
			return left == 0, nil
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("%d objects or containers are left: %w", left, context.Cause(ctx))
		case <-changed:
		}
	}
}

// look says how much is there, whether some of it is new since the sweep began,
// and when to look again.
func (r *relay) look() (left int, fresh bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.live {
		fresh = fresh || !r.earlier[id]
	}
	return len(r.live), fresh, r.changed
}

// isPartOfRig reports whether a payload is about a component or a node.
func isPartOfRig(payload record.Payload) bool {
	switch p := payload.(type) {
	case record.ComponentStarted, record.ComponentStopped:
		return true
	case record.ObjectObserved:
		return p.Resource == "nodes"
	default:
		return false
	}
}

// presence is whether something is there, by what a payload says of it.
type presence int

const (
	unsaid presence = iota
	there
	gone
)

// identify returns what a payload is about, for good: the UID of an object, or
// of the one that an Event is about, or the id of a sandbox or a container.
func identify(payload record.Payload) (string, presence) {
	switch p := payload.(type) {
	case record.ObjectObserved:
		return identifyObject(p)
	case record.SandboxStarted:
		return p.ID, unsaid
	case record.SandboxStopped:
		return p.ID, unsaid
	case record.ContainerCreated:
		return p.ID, unsaid
	case record.ContainerStarted:
		return p.ID, there
	case record.ContainerExited:
		return p.ID, gone
	case record.Exec:
		return p.ID, unsaid
	default:
		return "", unsaid
	}
}

func identifyObject(p record.ObjectObserved) (string, presence) {
	var o struct {
		Metadata       struct{ UID string }
		InvolvedObject struct{ UID string }
	}
	if err := json.Unmarshal(p.Object, &o); err != nil {
		return "", unsaid
	}
	switch {
	case p.Resource == "events":
		return o.InvolvedObject.UID, unsaid
	case p.Change == "deleted":
		return o.Metadata.UID, gone
	default:
		return o.Metadata.UID, there
	}
}
