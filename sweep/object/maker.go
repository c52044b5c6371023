// Package object makes objects that use a field: from the types of a release, and from what an API
// server says of each attempt.
package object

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/record"
)

// Maker makes objects of the kinds of a release.
type Maker struct {
	API   *apitypes.API
	Hints Hints
}

// Name is that of all objects, and the value of all texts that no hint is about. It is also a DNS
// label, a key and a name of most things.
const Name = "sweep"

// With returns objects of a kind that have a field at a path as apitypes.Place has it, with all that the
// types require, the likeliest to be taken first: they differ in the field's value.
func (m Maker) With(kind apitypes.Kind, path string) (objects []map[string]any) {
	segments := strings.Split(path, ".")
	for n := 0; ; n++ {
		object := m.base(kind)
		if segments[0] == "status" {
			object = record.Merge(object, runtime.DeepCopyJSON(m.Hints.Stored[kind.String()]))
		}
		if !m.fill(kind.Type, object, segments, n) {
			return objects
		}
		objects = append(objects, object)
	}
}

// base has what the types require of an object.
func (m Maker) base(kind apitypes.Kind) map[string]any {
	object := m.structure(kind.Type)
	object["apiVersion"], object["kind"] = kind.APIVersion(), kind.Name
	object["metadata"] = map[string]any{"name": Name}
	for _, name := range []string{"spec", "template"} { // optional in name only
		if f, is := m.API.Field(kind.Type, name); is && object[name] == nil {
			object[name] = m.value(kind.Type, f)
		}
	}
	return object
}

// fill makes a structure have a field with the nth of its values, and all that it is in. It reports
// false if the field has no so many.
func (m Maker) fill(t *apitypes.Type, in map[string]any, path []string, n int) bool {
	name := strings.TrimRight(path[0], "[]{}")
	f, known := m.API.Field(t, name)
	if !known {
		panic(fmt.Sprintf("%s has no field %s", t.Name, name)) //nolint:forbidigo // the path is of the same types
	}
	if len(path) == 1 {
		values := m.wanted(t, f)
		if n < len(values) {
			in[name] = values[n]
		}
		return n < len(values)
	}
	if _, is := in[name]; !is {
		in[name] = m.value(t, f)
	}
	below := in[name]
	switch many := below.(type) {
	case []any:
		below = many[0]
	case map[string]any:
		if strings.HasSuffix(path[0], "{}") {
			for _, only := range many {
				below = only
			}
		}
	}
	structure, _ := m.API.Type(m.API.Resolve(f.Type).Name)
	return m.fill(structure, below.(map[string]any), path[1:], n) //nolint:forcetypeassert // so value made it
}

// wanted are values that use a field, those last that may be filled in anyway.
func (m Maker) wanted(t *apitypes.Type, f apitypes.Field) (all []any) {
	if v, is := m.Hints.of(t, f); is {
		return []any{v}
	}
	for _, v := range slices.Backward(m.API.Values(f.Type)) {
		all = append(all, many(f.Type, v))
	}
	if len(all) > 0 {
		return all
	}
	v := m.value(t, f)
	if structure, is := v.(map[string]any); is && len(structure) == 0 {
		of, _ := m.API.Type(m.API.Resolve(f.Type).Name)
		if of != nil && len(of.Fields) > 0 { // an empty one may count as unset
			first := of.Fields[0]
			structure[first.Name] = m.value(of, first)
		}
	}
	return []any{v}
}

// value is one that a field can have.
func (m Maker) value(t *apitypes.Type, f apitypes.Field) any {
	if v, is := m.Hints.of(t, f); is {
		return v
	}
	ref := m.API.Resolve(f.Type)
	return many(ref, m.single(f.Type, ref))
}

// many has a value in a list or a map, if the type is one.
func many(ref apitypes.Ref, v any) any {
	switch {
	case ref.Map:
		return map[string]any{Name: v}
	case ref.List:
		return []any{v}
	default:
		return v
	}
}

func (m Maker) single(named, ref apitypes.Ref) any {
	if values := m.API.Values(named); len(values) > 0 {
		return values[0]
	}
	if v, is := m.Hints.ofType(ref.Name); is {
		return v
	}
	if structure, is := m.API.Type(ref.Name); is && structure.Is.Name == "" && len(structure.Fields) > 0 {
		return m.structure(structure)
	}
	switch ref.Name {
	case "string":
		return Name
	case "bool":
		return true
	case "[]byte":
		return "c3dlZXA="
	case "int", "int32", "int64", "uint8", "uint32", "float64":
		return int64(1)
	default:
		return map[string]any{}
	}
}

// structure has all that the types require of a structure.
func (m Maker) structure(t *apitypes.Type) map[string]any {
	made := make(map[string]any)
	for _, f := range t.Fields {
		switch inline, is := m.API.Type(m.API.Resolve(f.Type).Name); {
		case f.Name == "" && is:
			maps.Copy(made, m.structure(inline))
		case f.Name != "" && (!f.Optional || m.Hints.always(t, f)):
			made[f.Name] = m.value(t, f)
		}
	}
	return made
}
