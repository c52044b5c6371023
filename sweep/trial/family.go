package trial

import (
	"maps"
	"slices"
	"time"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/sweep/object"
)

// family is an object with what it owns.
type family struct {
	versions []*timeline.Version
	own      []*timeline.Version
	events   []timeline.Happening
}

// families are those of the objects that nothing owns, by key.
func (s Seen) families() map[string]family {
	key := make(map[string]string)   // of a UID
	owner := make(map[string]string) // UID by UID
	about := make(map[string][]timeline.Happening)
	for _, h := range s.Timeline.Happenings {
		about[string(h.About.UID)] = append(about[string(h.About.UID)], h)
	}
	for _, v := range s.Timeline.Versions {
		m := v.Meta()
		key[string(m.UID)] = v.Key
		for _, o := range m.OwnerReferences {
			owner[string(m.UID)] = string(o.UID)
		}
	}
	all := make(map[string]family)
	for _, v := range s.Timeline.Versions {
		root := string(v.Meta().UID)
		for owner[root] != "" {
			root = owner[root]
		}
		f := all[key[root]]
		f.versions = append(f.versions, v)
		f.events = append(f.events, about[string(v.Meta().UID)]...)
		delete(about, string(v.Meta().UID))
		if root == string(v.Meta().UID) {
			f.own = append(f.own, v)
		}
		all[key[root]] = f
	}
	return all
}

// writes counts what was written in a phase.
func (f family) writes(s Seen, p Phase) int {
	from, to := s.span(p)
	written := make(map[string]bool)
	for _, v := range f.versions {
		id := string(v.Meta().UID) + "@" + v.Meta().ResourceVersion
		if _, before := written[id]; !before {
			written[id] = !v.Time.Before(from) && v.Time.Before(to)
		}
	}
	n := 0
	for _, in := range written {
		if in {
			n++
		}
	}
	return n
}

var order = []Phase{On, Off, Touched, Again}

// span is when a phase began and ended.
func (s Seen) span(p Phase) (from, to time.Time) {
	i := slices.Index(order, p)
	from, to = s.Began[p], s.Ended
	if i+1 < len(order) {
		to = s.Began[order[i+1]]
	}
	return from, to
}

// happenings counts the events in a phase.
func (f family) happenings(s Seen, p Phase) (n int) {
	from, to := s.span(p)
	for _, e := range f.events {
		if !e.Time.Before(from) && e.Time.Before(to) {
			n++
		}
	}
	return n
}

// at is the object at a time, or nil.
func (f family) at(at time.Time) (found *timeline.Version) {
	for _, v := range f.own {
		if v.Time.Before(at) {
			found = v
		}
	}
	return found
}

// goneAt reports whether the object is gone at a time, or going.
func (f family) goneAt(at time.Time) bool {
	v := f.at(at)
	return v == nil || v.Gone() || v.Meta().DeletionTimestamp != nil
}

// valueAt is a field of the object at a time.
func (f family) valueAt(path string, at time.Time) (any, bool) {
	v := f.at(at)
	if v == nil || v.Gone() {
		return nil, false
	}
	return object.Value(v.Fields(), path)
}

// wantedAt is what somebody wants of the object at a time: all but its metadata and its status.
func (f family) wantedAt(at time.Time) map[string]any {
	v := f.at(at)
	if v == nil || v.Gone() {
		return nil
	}
	wanted := maps.Clone(v.Fields())
	for _, name := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(wanted, name)
	}
	return wanted
}
