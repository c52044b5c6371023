package engine

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// UnknownFields reports the fields of objects in the steps of cells that the API of the
// newest release does not have, unless the step says that it means them: each with its
// place, and what may have been meant. An API server would leave such a field out. Objects
// whose kind is not built in may have any. Those of cells on a checkout may have its fields, too.
func UnknownFields(cells []plan.Cell) error {
	var all []error
	for _, cell := range cells {
		all = append(all, unknownFields(cell)...)
	}
	return strict.Join(all...)
}

func unknownFields(cell plan.Cell) (all []error) {
	api := apiOf(cell)
	if !api.known {
		return nil
	}
	var allowed []spec.Use
	found := make(map[spec.Use]bool)
	for _, object := range cell.Uses.Objects {
		for _, use := range object.Unknown {
			if !slices.Contains(allowed, use) {
				allowed = append(allowed, use)
			}
		}
		for _, f := range unknownIn(object) {
			name := f.key.Value
			if i := slices.IndexFunc(object.Unknown, func(use spec.Use) bool { return use.Name == name }); i >= 0 {
				found[object.Unknown[i]] = true
				continue
			}
			if api.declares(f.in, name) {
				continue
			}
			all = append(all, strict.Problemf(object.Position(f.key), "the API of %s has no field %q here: %s To send it all the same, give the step unknownFields: [%s]",
				api.name, name, f.guess(), name))
		}
	}
	if len(api.more) > 0 {
		return all // its API may have a field that no release has
	}
	for _, use := range allowed {
		if !found[use] {
			all = append(all, strict.Problemf(use.Position, "the step has no field %q that the API of %s does not know: leave it out of unknownFields", use.Name, api.name))
		}
	}
	return all
}

// api is what the objects of a cell may have beside what the newest release knows.
type api struct {
	name  string
	known bool
	// more are the fields of sources and of newer releases, see release.Fields.
	more []map[string]bool
}

// apiOf returns the API of a cell. It is not known if the checkout of a source is missing, or if the fields of a release
// were not read that is newer than the API types of this build.
func apiOf(cell plan.Cell) api {
	a := api{name: release.Newest.MajorMinor(), known: true}
	for _, t := range plan.Targets([]plan.Cell{cell}) {
		if newer := t.Version.Minor() > release.Newest.Minor(); !t.Version.IsSource() && !newer {
			continue
		}
		fields, known := release.Fields(t.Version)
		a.name, a.known, a.more = string(t.Version), a.known && known, append(a.more, fields)
	}
	return a
}

// declares reports whether a source declares a field of a type, or of one that is embedded there.
func (a api) declares(t reflect.Type, name string) bool {
	if slices.ContainsFunc(a.more, func(fields map[string]bool) bool { return fields[t.PkgPath()+"."+t.Name()+"."+name] }) {
		return true
	}
	for f := range t.Fields() {
		if f.Anonymous && f.Type.Kind() == reflect.Struct && a.declares(f.Type, name) {
			return true
		}
	}
	return false
}

// unknownField is a field that is written where its type has none of that name.
type unknownField struct {
	key   *yaml.Node
	in    reflect.Type
	known []apiField // the fields that there are
}

// guess is what the field may have been meant for.
func (f unknownField) guess() string {
	var names []string
	for _, known := range f.known {
		names = append(names, known.name)
	}
	if near := spelling.Closest(f.key.Value, names); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return "known are " + strings.Join(names, ", ") + "."
}

// unknownIn are the fields of an object that it can't have, in whichever version of its
// kind it has the fewest. Of a kind that is not built in there are none.
func unknownIn(object spec.Written) (fewest []unknownField) {
	for i, t := range typesOf(object) {
		if unknown := unknownAt(t, object.Node); i == 0 || len(unknown) < len(fewest) {
			fewest = unknown
		}
	}
	return fewest
}

// typesOf are those that the newest release has for an object: one, or that of each
// version.
func typesOf(object spec.Written) []reflect.Type {
	if object.Resource != "" {
		return typesOfResources()[object.Resource]
	}
	version, err := schema.ParseGroupVersion(object.APIVersion)
	t, is := scheme.Scheme.AllKnownTypes()[version.WithKind(object.Kind)]
	if err != nil || !is {
		return nil
	}
	return []reflect.Type{t}
}

// typesOfResources are the types of each resource, in the same order in every run.
var typesOfResources = sync.OnceValue(func() map[string][]reflect.Type {
	all := make(map[string][]reflect.Type)
	for kind, t := range scheme.Scheme.AllKnownTypes() {
		resource := kube.Resource(kind.Kind)
		all[resource] = append(all[resource], t)
	}
	for _, types := range all {
		slices.SortFunc(types, func(a, b reflect.Type) int { return strings.Compare(a.PkgPath(), b.PkgPath()) })
	}
	return all
})

// unknownAt are the fields in a node for which a type has no place. What is of another
// form than the type is for the API server to refuse.
func unknownAt(t reflect.Type, n *yaml.Node) (all []unknownField) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch own := reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()); {
	case own:
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			all = append(all, unknownAt(t.Elem(), item)...)
		}
	case t.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			all = append(all, unknownAt(t.Elem(), n.Content[i])...)
		}
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		known := apiFieldsOf(t)
		for i := 0; i+1 < len(n.Content); i += 2 {
			all = append(all, unknownEntry(t, known, n.Content[i], n.Content[i+1])...)
		}
	}
	return all
}

// unknownEntry are the fields in an entry of a mapping for which there is no place among
// those that are known. A name that has a reference to an axis is left alone.
func unknownEntry(t reflect.Type, known []apiField, key, value *yaml.Node) []unknownField {
	i := slices.IndexFunc(known, func(f apiField) bool { return f.name == key.Value })
	switch {
	case i >= 0:
		return unknownAt(known[i].of, value)
	case strings.Contains(key.Value, "${"):
		return nil
	}
	return []unknownField{{key, t, known}}
}

// apiField is a field of an API object by its name in JSON.
type apiField struct {
	name string
	of   reflect.Type
}

// apiFieldsOf are the fields of a struct, those of the structs that it is written out of
// included.
func apiFieldsOf(t reflect.Type) (all []apiField) {
	for f := range t.Fields() {
		switch name, _, _ := strings.Cut(f.Tag.Get("json"), ","); {
		case name == "" && f.Anonymous:
			all = append(all, apiFieldsOf(f.Type)...)
		case name != "" && name != "-":
			all = append(all, apiField{name, f.Type})
		}
	}
	return all
}
