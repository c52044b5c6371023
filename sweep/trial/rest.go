package trial

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/law"
)

// manyEvents is how many events about an item say that it is not at rest: fewer are of a retry that comes ever later.
const manyEvents = 5

// Rests reports whether no object was written since a time, but for those that are written without end in a phase
// that began at another, and whether the controllers have seen the spec of each item: one that has just started may not
// have begun. What is in other namespaces than that of the objects is not theirs.
func (p Plan) Rests(namespace string, events []record.Event, began, since time.Time) bool {
	names := make(map[string]bool)
	for _, i := range p.Items {
		names[i.Name] = true
	}
	writes, late, last := make(map[string]int), make(map[string]bool), make(map[string]record.Event)
	lateEvents := make(map[string]int)
	for _, e := range events {
		if e.Kind != (record.ObjectObserved{}).EventKind() || e.At.Before(began) {
			continue
		}
		item, isEvent, is := writtenOf(e.Subject, namespace, names)
		if !is {
			continue
		}
		isLate := e.At.After(since)
		if isEvent {
			if isLate {
				lateEvents[item]++
			}
			isLate = lateEvents[item] >= manyEvents
		} else {
			writes[item]++
			last[e.Subject] = e
		}
		late[item] = late[item] || isLate
	}
	for item, is := range late {
		if is && (item == "" || writes[item] <= law.MaxWrites) {
			return false
		}
	}
	for key, e := range last {
		name := path.Base(key)
		if names[name] && writes[name] <= law.MaxWrites && isBehind(e) {
			return false
		}
	}
	return true
}

// isBehind reports whether an object was seen with a status that is not about its spec, and is there to stay.
func isBehind(e record.Event) bool {
	o, is := record.As[record.ObjectObserved](e)
	if !is {
		return false
	}
	v := timeline.NewVersion(e.Subject, o.Object)
	v.Change = o.Change
	return !v.Gone() && v.Meta().DeletionTimestamp == nil && v.IsBehind()
}

// writtenOf is the item that an object is, or that owns it, and whether it is an event of these. It is empty
// if its name does not say. An object of another namespace is not one of the plan.
func writtenOf(key, namespace string, names map[string]bool) (item string, isEvent, is bool) {
	parts := strings.Split(key, "/") // resource, perhaps namespace, name
	if len(parts) == 3 && parts[1] != namespace {
		return "", false, false
	}
	name := parts[len(parts)-1]
	if isEvent = parts[0] == "events"; isEvent {
		name, _, _ = strings.Cut(name, ".") // it is named after what it is about
	}
	return law.NamedAfter(name, names), isEvent, true
}

// Again is what has to run again once a plan was judged, if there is anything. What is written without end slows
// all else down: so the plan runs again without that, unless the rest came to rest and shows nothing.
func (s Seen) Again(found []Finding) (Plan, bool) {
	rest := s.Plan.settling(found)
	if len(rest.Items) == len(s.Plan.Items) || len(rest.Items) == 0 {
		return rest, false
	}
	return rest, s.Restless || len(WithoutEnd(found)) < len(found)
}

// settling is a plan without what is written without end, which slows all else down.
func (p Plan) settling(found []Finding) Plan {
	endless := make(map[string]bool)
	for _, f := range found {
		for _, i := range f.Items {
			endless[i.Name] = endless[i.Name] || f.What == law.Endless
		}
	}
	p.Items = slices.DeleteFunc(slices.Clone(p.Items), func(i Item) bool { return endless[i.Name] })
	return p
}

// WithoutEnd are the findings of what is written without end.
func WithoutEnd(found []Finding) (endless []Finding) {
	for _, f := range found {
		if f.What == law.Endless {
			endless = append(endless, f)
		}
	}
	return endless
}
