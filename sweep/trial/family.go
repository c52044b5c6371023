package trial

import (
	"slices"
	"time"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/sweep/object"
)

// family is an object with what it owns.
type family struct {
	versions []*timeline.Version
	own      []*timeline.Version
}

// families are those of the objects that nothing owns, by key.
func (s Seen) families() map[string]family {
	key := make(map[string]string)   // of a UID
	owner := make(map[string]string) // UID by UID
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

// valueAt is the field of an item at a time.
func (f family) valueAt(i Item, at time.Time) (v any, is bool) {
	for _, version := range f.own {
		if version.Time.Before(at) && !version.Gone() {
			v, is = object.Value(version.Fields(), i.Path)
		}
	}
	return v, is
}
