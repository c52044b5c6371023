package watched

import (
	"bytes"
	"sync"

	"github.com/skewrig/skewrig/record"
)

// Seen is what is recorded of objects by watches that come one after the other, as where an API server is restarted.
type Seen struct {
	mu      sync.Mutex
	objects map[string]*Object // by resource and UID
}

// Object is an object as it was recorded last.
type Object struct {
	Subject string
	record.ObjectObserved

	current bool // this watch has seen it, not only an earlier one
}

// NewSeen returns one that has seen nothing.
func NewSeen() *Seen { return &Seen{objects: make(map[string]*Object)} }

// Again begins with another watch, which has seen nothing yet.
func (s *Seen) Again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.objects {
		o.current = false
	}
}

// Changed reports whether an object is to be recorded: it is gone, or differs from what was recorded before. The
// content is compared and not the resource version: an API server of another release may show the same stored object
// differently.
func (s *Seen) Changed(uid, subject string, event record.ObjectObserved) bool {
	key := event.Resource + "/" + uid
	s.mu.Lock()
	defer s.mu.Unlock()
	if event.Change == "deleted" {
		delete(s.objects, key)
		return true
	}
	before := s.objects[key]
	s.objects[key] = &Object{Subject: subject, ObjectObserved: event, current: true}
	return before == nil || !bytes.Equal(before.Object, event.Object)
}

// Missing returns what an earlier watch has seen and this one, which has seen all that is there, has not: it is gone.
func (s *Seen) Missing() (gone []Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, o := range s.objects {
		if !o.current {
			o.Change, o.Writers = "deleted", nil // those of the last state did not delete it
			gone = append(gone, *o)
			delete(s.objects, key)
		}
	}
	return gone
}
