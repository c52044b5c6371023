package law

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// family is an object with what it owns.
type family struct {
	versions []*timeline.Version
	own      []*timeline.Version
	events   []timeline.Happening
}

// familiesOf are those of the objects that nothing owns, by key.
func familiesOf(t *timeline.Timeline) map[string]family {
	key := make(map[string]string)   // of a UID
	owner := make(map[string]string) // UID by UID
	about := make(map[string][]timeline.Happening)
	for _, h := range t.Happenings {
		about[string(h.About.UID)] = append(about[string(h.About.UID)], h)
	}
	for _, v := range t.Versions {
		m := v.Meta()
		key[string(m.UID)] = v.Key
		if of := ownerOf(m); of != "" {
			owner[string(m.UID)] = of
		}
	}
	all := make(map[string]family)
	for _, v := range t.Versions {
		root := rootOf(string(v.Meta().UID), owner)
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

// ownerOf returns the UID of an object's controller, or of its first owner if none is a controller. It is empty without owners.
func ownerOf(m *metav1.ObjectMeta) string {
	if controller := metav1.GetControllerOfNoCopy(m); controller != nil {
		return string(controller.UID)
	}
	if len(m.OwnerReferences) > 0 {
		return string(m.OwnerReferences[0].UID)
	}
	return ""
}

// rootOf is the UID of the owner of an object that has no owner itself. Of objects that own each other, each is its own root.
func rootOf(uid string, owner map[string]string) string {
	seen := map[string]bool{uid: true}
	root := uid
	for owner[root] != "" {
		root = owner[root]
		if seen[root] {
			return uid
		}
		seen[root] = true
	}
	return root
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
	return kube.Value(v.Fields(), path)
}

// wantedAt is what is wanted of the object at a time: all but its metadata and its status.
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
