package watched

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/skewrig/skewrig/record"
)

// Seen is what is recorded of objects by watches that come one after the other, as where an API server is restarted.
type Seen struct {
	mu       sync.Mutex
	objects  map[string]*Object // by resource and UID
	uids     map[string]string  // by subject
	unserved map[string]bool    // resources that the API server does not serve
}

// Object is an object as it was recorded last.
type Object struct {
	Subject string
	record.ObjectObserved

	current bool // this watch has seen it, not only an earlier one
}

// NewSeen returns one that has seen nothing.
func NewSeen() *Seen {
	return &Seen{objects: make(map[string]*Object), uids: make(map[string]string), unserved: make(map[string]bool)}
}

// Again begins with another watch, which has seen nothing yet.
func (s *Seen) Again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.objects {
		o.current = false
	}
}

// Changed returns what is to be recorded of an object: that it is gone, or what differs from what was recorded before. If
// it has replaced another of its name, which a watch that was away does not say, that is gone first. The content is
// compared and not the resource version: an API server of another release may show the same stored object differently.
func (s *Seen) Changed(uid, subject string, event record.ObjectObserved) (objects []Object) {
	key := event.Resource + "/" + uid
	s.mu.Lock()
	defer s.mu.Unlock()
	now := Object{Subject: subject, ObjectObserved: event, current: true}
	if event.Change == record.Deleted {
		if last, is := s.uids[subject]; is && last != uid {
			return nil // it was recorded when the other one came
		}
		delete(s.objects, key)
		delete(s.uids, subject)
		return append(objects, now)
	}
	if other := event.Resource + "/" + s.uids[subject]; other != key && s.objects[other] != nil {
		objects = append(objects, s.gone(other))
	}
	before := s.objects[key]
	s.objects[key], s.uids[subject] = &now, uid
	if before == nil || before.Change == record.Unserved || !bytes.Equal(before.Object, event.Object) {
		objects = append(objects, now)
	}
	return objects
}

// gone returns an object that was deleted unseen.
func (s *Seen) gone(key string) Object {
	o := s.objects[key]
	delete(s.objects, key)
	o.Change, o.Writers = record.Deleted, nil // those of the last state did not delete it
	return *o
}

// Unserved returns the objects of a resource that the API server does not serve any more, as they are to be recorded. They
// are not gone: whether they are is known when the resource is served again.
func (s *Seen) Unserved(resource string) (objects []Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unserved[resource] = true
	for _, o := range s.objects {
		if o.Resource == resource && o.Change != record.Unserved {
			o.Change, o.Writers, o.current = record.Unserved, nil, false
			objects = append(objects, *o)
		}
	}
	return inOrder(objects)
}

// Served notes that the API server serves a resource, and that all its objects were seen that there are.
func (s *Seen) Served(resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unserved, resource)
}

// Missing returns what an earlier watch has seen and this one, which has seen all that is there, has not: it is gone.
// Nothing is known of what is not served.
func (s *Seen) Missing() (gone []Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, o := range s.objects {
		if !o.current && !s.unserved[o.Resource] {
			gone = append(gone, s.gone(key))
		}
	}
	return inOrder(gone)
}

func inOrder(objects []Object) []Object {
	slices.SortFunc(objects, func(a, b Object) int { return cmp.Compare(a.Subject, b.Subject) })
	return objects
}
