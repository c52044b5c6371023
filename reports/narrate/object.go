package narrate

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/record/timeline"
)

// objects are those that the cell is about: those that the scenario has asked an
// API server for, or names in an expression, and what is made from them.
type objects struct {
	named    string          // all expressions of the checks and of the steps
	made     map[string]bool // keys
	uids     map[string]bool
	versions map[string][]*state
}

// state is an object as it was seen.
type state struct {
	Version
	body map[string]any
	size int // as JSON, about
}

func newObjects(b *builder) objects {
	o := objects{made: make(map[string]bool), uids: make(map[string]bool), versions: make(map[string][]*state)}
	for _, s := range b.Steps {
		o.named += s.Action + "\n"
	}
	for _, c := range b.in.Result.Checks {
		o.named += c.Expected + "\n"
	}
	for _, a := range b.Answers { // the answer may come after the object
		o.made[a.Object] = true
		if uid := text(a.Response.Value(), "metadata", "uid"); uid != "" {
			o.uids[uid] = true
		}
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

func (o *objects) owned(body map[string]any) bool {
	return slices.ContainsFunc(list(body, "metadata", "ownerReferences"), func(owner any) bool {
		return o.uids[text(owner, "uid")]
	})
}

// add keeps a version of an object that says something new.
func (o *objects) add(seen observed, step *timeline.Step) {
	if !o.wants(seen.Key) && !o.owned(seen.body) {
		return
	}
	o.uids[text(seen.body, "metadata", "uid")] = true
	s := &state{Version: Version{At: seen.at, Change: seen.Change}}
	if step != nil {
		s.Step = step.Number
	}
	if before := o.versions[seen.Key]; !seen.Gone() {
		s.body, s.size = withoutManagers(seen.body), len(seen.Text())
		if len(before) > 0 && seen.Change == "modified" && sameButForNoise(before[len(before)-1].body, s.body) {
			return
		}
	}
	o.versions[seen.Key] = append(o.versions[seen.Key], s)
}

// withoutManagers is an object without what only the API server needs.
func withoutManagers(body map[string]any) map[string]any {
	if metadata, is := body["metadata"].(map[string]any); is {
		body, metadata = maps.Clone(body), maps.Clone(metadata)
		delete(metadata, "managedFields")
		body["metadata"] = metadata
	}
	return body
}

// sameButForNoise reports whether two versions differ in nothing but when they
// were written.
func sameButForNoise(a, b map[string]any) bool {
	return a != nil && b != nil && reflect.DeepEqual(quiet(a), quiet(b))
}

// quiet is an object without its resource version, and without when its
// conditions were heard of.
func quiet(body map[string]any) map[string]any {
	body = maps.Clone(body)
	if metadata, is := body["metadata"].(map[string]any); is {
		metadata = maps.Clone(metadata)
		delete(metadata, "resourceVersion")
		body["metadata"] = metadata
	}
	if status, is := body["status"].(map[string]any); is {
		status = maps.Clone(status)
		var conditions []any
		for _, c := range list(body, "status", "conditions") {
			if fields, is := c.(map[string]any); is {
				fields = maps.Clone(fields)
				delete(fields, "lastHeartbeatTime")
				c = fields
			}
			conditions = append(conditions, c)
		}
		status["conditions"] = conditions
		body["status"] = status
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
// objects and versions are left out. Those that the scenario asked for come
// before what was made from them.
func (o *objects) shown(d detail, most int) (all []Object, objects, versions int) {
	keys := slices.Sorted(maps.Keys(o.versions))
	slices.SortStableFunc(keys, func(a, b string) int {
		switch {
		case o.wants(a) == o.wants(b):
			return 0
		case o.wants(a):
			return -1
		default:
			return 1
		}
	})
	most = min(len(keys), most)
	for _, key := range slices.Sorted(slices.Values(keys[:most])) {
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
		case i == 0 || last || s.Change == "deleted":
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
