package narrate

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// objects are those that the cell is about: those that the scenario has asked an
// API server for, or names in an expression, and what is made from them.
type objects struct {
	named    string          // all expressions of the checks and of the steps
	made     map[string]bool // keys
	uids     map[types.UID]bool
	failed   reports.Names // what the checks that do not hold are about
	versions map[string][]*state
}

// state is an object as it was seen.
type state struct {
	Version
	body  map[string]any
	quiet map[string]any // what of it says something new if it differs
	size  int            // as JSON, about
}

func newObjects(b *builder) objects {
	o := objects{failed: b.failing(), made: make(map[string]bool), uids: make(map[types.UID]bool), versions: make(map[string][]*state)}
	for _, s := range b.Steps {
		o.named += s.Action + "\n"
	}
	for _, c := range b.in.Result.Checks {
		o.named += c.Expected + "\n"
	}
	for _, a := range b.Answers { // the answer may come after the object
		o.made[a.Object] = true
		o.uids[a.Response.Meta().UID] = true
	}
	for _, v := range b.Versions {
		if v.Static() {
			o.made[v.Key] = true
		}
	}
	return o
}

// wants reports whether an object is one that the scenario is about, by its name.
func (o *objects) wants(key string) bool {
	return o.made[key] || strings.Contains(o.named, `"`+key+`"`)
}

// add keeps a version of an object that says something new.
func (o *objects) add(v *timeline.Version, at float64, step *timeline.Step) {
	isOwned := func(owner metav1.OwnerReference) bool { return owner.UID != "" && o.uids[owner.UID] }
	if !o.wants(v.Key) && !slices.ContainsFunc(v.Meta().OwnerReferences, isOwned) {
		return
	}
	o.uids[v.Meta().UID] = true
	s := &state{Version: Version{At: at, Change: v.Change}}
	if step != nil {
		s.Step = step.Number
	}
	for _, earlier := range o.versions[v.Key] { // it was seen before, and so made before
		earlier.Step = min(earlier.Step, s.Step)
	}
	if before := o.versions[v.Key]; !v.Gone() {
		s.body, s.size = runtime.DeepCopyJSON(v.Fields()), len(v.Text())
		unstructured.RemoveNestedField(s.body, "metadata", "managedFields") // for the API server only
		s.quiet = quiet(s.body)
		if len(before) > 0 && v.Change == "modified" && reflect.DeepEqual(before[len(before)-1].quiet, s.quiet) {
			return
		}
	}
	o.versions[v.Key] = append(o.versions[v.Key], s)
}

// quiet is an object without its resource version, and without when its
// conditions were heard of.
func quiet(body map[string]any) map[string]any {
	body = runtime.DeepCopyJSON(body)
	unstructured.RemoveNestedField(body, "metadata", "resourceVersion")
	field, _, _ := unstructured.NestedFieldNoCopy(body, "status", "conditions")
	conditions, _ := field.([]any)
	for _, c := range conditions {
		if fields, is := c.(map[string]any); is {
			delete(fields, "lastHeartbeatTime")
		}
	}
	return body
}

// detail is how much is shown of an object.
type detail int

// From much to little.
const (
	everyVersion detail = iota
	lastOfStep          // of each step the version that it left behind
	firstAndLast
)

// maxObjects is how many objects are shown, and maxVersions how many versions of
// one.
const (
	maxObjects  = 24
	maxVersions = 40
)

// shown are so many objects at most, with as much detail as asked for, and how many
// objects and versions are left out. Those come first that the checks which do not hold are
// about, then those that the scenario asked for, and then what was made from them.
func (o *objects) shown(d detail, most int) (all []Object, objects, versions int) {
	keys := slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(o.versions))), func(x, y string) int { return o.place(x) - o.place(y) })
	most = min(len(keys), most)
	first := slices.SortedFunc(slices.Values(keys[:most]), func(x, y string) int {
		return cmp.Or(min(o.place(x), asked)-min(o.place(y), asked), strings.Compare(x, y))
	})
	for _, key := range first {
		states := o.versions[key]
		kept := chosen(states, d)
		versions += len(states) - len(kept)
		object := Object{Key: key}
		for _, s := range kept {
			object.Versions = append(object.Versions, s.shown())
		}
		all = append(all, object)
	}
	return all, len(keys) - most, versions
}

// The places of objects, the first one first.
const (
	failing = iota
	asked
	owned
)

// place is what an object is to the cell: what failed, what was asked for, or what was made.
func (o *objects) place(key string) int {
	switch {
	case o.failed.HasObject(key):
		return failing
	case o.wants(key):
		return asked
	}
	return owned
}

// affordable is how much detail there can be so that objects alone are not longer than
// the limit, about. It spares making what would be left out.
func (o *objects) affordable(limit int) detail {
	for _, d := range []detail{everyVersion, lastOfStep} {
		size := 0
		for _, states := range o.versions {
			for _, s := range chosen(states, d) {
				size += s.size
			}
		}
		if size <= limit {
			return d
		}
	}
	return firstAndLast
}

// chosen are the versions of an object that are shown.
func chosen(states []*state, d detail) (kept []*state) {
	for i, s := range states {
		last := i == len(states)-1
		switch {
		case i == 0 || last || s.Change == record.Deleted || s.Change == record.Unserved:
		case d == everyVersion && i < maxVersions-1:
		case d == lastOfStep && states[i+1].Step != s.Step && i < maxVersions-1:
		default:
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// shown is the version with the object as YAML, which is made once.
func (s *state) shown() Version {
	if s.YAML == "" && s.body != nil {
		var b strings.Builder
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		e.CompactSeqIndent()
		if err := e.Encode(s.body); err == nil { // it was decoded from JSON
			s.YAML = b.String()
		}
	}
	return s.Version
}
