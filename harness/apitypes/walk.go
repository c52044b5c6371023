package apitypes

import (
	"slices"
	"strings"
)

// Place is a field in the objects of a kind.
type Place struct {
	Kind  Kind
	Field Field
	// Of is the structure that has the field.
	Of *Type
	// Path is where it is in an object: spec.containers[].image. Lists end with [], and maps with {}.
	Path string
	// Above are the fields that it is in, the outermost first.
	Above []Field
}

// Walk visits each field of the objects of a kind, a field before those that are in it. Types that
// are in themselves are visited once in each path.
func (a *API) Walk(k Kind, visit func(Place)) {
	w := walk{api: a, kind: k, visit: visit}
	w.structure(k.Type, "", nil)
}

type walk struct {
	api   *API
	kind  Kind
	visit func(Place)
	on    []*Type // the types on the way
}

func (w *walk) structure(t *Type, path string, above []Field) {
	if slices.Contains(w.on, t) {
		return
	}
	w.on = append(w.on, t)
	defer func() { w.on = w.on[:len(w.on)-1] }()
	for _, f := range t.Fields {
		below, in := path, above
		if f.Name != "" {
			below = strings.TrimPrefix(path+"."+f.Name, ".")
			w.visit(Place{Kind: w.kind, Field: f, Of: t, Path: below, Above: above})
			in = append(slices.Clip(above), f)
		}
		ref := w.api.Resolve(f.Type)
		if s, is := w.api.types[ref.Name]; is {
			w.structure(s, below+ref.suffix(), in)
		}
	}
}

// Resolve follows the names of types that stand for others.
func (a *API) Resolve(r Ref) Ref {
	for {
		t, known := a.types[r.Name]
		if !known || t.Is.Name == "" {
			return r
		}
		r = Ref{Name: t.Is.Name, List: r.List || t.Is.List, Map: r.Map || t.Is.Map}
	}
}

func (r Ref) suffix() string {
	switch {
	case r.Map:
		return "{}"
	case r.List:
		return "[]"
	default:
		return ""
	}
}

// Field returns the field of a structure that has a name in JSON, also of a structure whose fields are
// those of this one.
func (a *API) Field(t *Type, name string) (f Field, known bool) {
	for _, f := range t.Fields {
		if f.Name == name {
			return f, true
		}
		if f.Name != "" {
			continue
		}
		if inline, is := a.types[a.Resolve(f.Type).Name]; is {
			if f, known := a.Field(inline, name); known {
				return f, true
			}
		}
	}
	return f, false
}
