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
	w.structure(k.root, "", nil)
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
		ref := w.api.resolve(f.Type)
		if s, is := w.api.types[ref.Name]; is {
			w.structure(s, below+ref.suffix(), in)
		}
	}
}

// resolve follows the names of types that stand for others.
func (a *API) resolve(r Ref) Ref {
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
