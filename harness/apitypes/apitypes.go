// Package apitypes reads the types of Kubernetes' API from their Go source: which fields the
// objects of each kind have, and what the markers in their comments say of them. Nothing is
// compiled, so any release and any checkout can be read.
package apitypes

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// API is the types of a release.
type API struct {
	types  map[string]*Type
	groups map[string]string // the name of a group, by package
}

// saved is an API as JSON.
type saved struct {
	Types  map[string]*Type  `json:"types"`
	Groups map[string]string `json:"groups"`
}

// MarshalJSON implements json.Marshaler.
func (a *API) MarshalJSON() ([]byte, error) { return json.Marshal(saved{a.types, a.groups}) }

// UnmarshalJSON implements json.Unmarshaler.
func (a *API) UnmarshalJSON(text []byte) error {
	var s saved
	err := json.Unmarshal(text, &s)
	a.types, a.groups = s.Types, s.Groups
	return err
}

// Type is a type that has a name: k8s.io/api/core/v1.Container.
type Type struct {
	// Package is the path of the package, and Name the name in it.
	Package string
	Name    string
	// Fields are those of a structure, in the order of the source.
	Fields []Field
	// Is is what a type that is no structure stands for.
	Is Ref
	// Values are the constants of the type.
	Values []string
	// Markers are the lines of the comment that begin with +, without it.
	Markers []string
}

// Field is a field of a structure.
type Field struct {
	// Name is the one in JSON. It is empty if the fields of Type are fields of the structure.
	Name string
	Type Ref
	// Optional is true if the field may be left out.
	Optional bool
	// Comment is what is said of the field, in one line, and Markers the lines that begin with +,
	// without it.
	Comment string
	Markers []string
	// File and Line are where it is declared.
	File string
	Line int
}

// Ref is a type as a field names it.
type Ref struct {
	// Name is that of the type, with its package if it has one: string, k8s.io/api/core/v1.Pod.
	Name string
	// List and Map are true of a field with many of them.
	List, Map bool
}

// Kind is a kind of objects that an API server stores.
type Kind struct {
	Group   string
	Version string
	Name    string
	// Namespaced is true if objects are in a namespace.
	Namespaced bool
	// Removed is the minor version 1.N from which on it is not served. If unset, none is known.
	Removed int

	// Type is that of the objects.
	Type *Type
}

// APIVersion is the group with the version: apps/v1.
func (k Kind) APIVersion() string { return strings.TrimPrefix(k.Group+"/"+k.Version, "/") }

// String is the kind with its group and version: apps/v1 Deployment.
func (k Kind) String() string { return k.APIVersion() + " " + k.Name }

// Type returns a type by package and name.
func (a *API) Type(name string) (t *Type, known bool) {
	t, known = a.types[name]
	return t, known
}

// FieldNames are all fields by package, type and name in JSON: k8s.io/api/core/v1.Pod.spec. Those of
// types that are embedded are with these.
func (a *API) FieldNames() map[string]bool {
	names := make(map[string]bool)
	for of, t := range a.types {
		for _, f := range t.Fields {
			if f.Name != "" {
				names[of+"."+f.Name] = true
			}
		}
	}
	return names
}

// Kinds are all kinds, sorted by group, version and name.
func (a *API) Kinds() (kinds []Kind) {
	for _, name := range slices.Sorted(maps.Keys(a.types)) {
		if t := a.types[name]; t.isStored() {
			kinds = append(kinds, Kind{
				Group:      a.groups[t.Package],
				Version:    path.Base(t.Package),
				Name:       t.Name,
				Namespaced: !t.has("genclient:nonNamespaced"),
				Removed:    t.removed(),
				Type:       t,
			})
		}
	}
	return kinds
}

// isStored reports whether objects of a type are stored: they have metadata, and a client that does
// more than to create them (k8s.io/code-generator, client-gen).
func (t *Type) isStored() bool {
	hasMetadata := slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Name == "metadata" && strings.HasSuffix(f.Type.Name, ".ObjectMeta") })
	return hasMetadata && t.has("genclient") && !t.has("genclient:noVerbs") && !t.has("genclient:onlyVerbs=create")
}

// prerelease is how many minor versions an alpha or beta version of a kind is served, unless a marker
// says otherwise (k8s.io/code-generator, prerelease-lifecycle-gen).
const prerelease = 6

// removed is the minor version from which on a type is not served, or 0.
func (t *Type) removed() int {
	minor := func(of string) (n int) {
		for _, value := range Valued(t.Markers, "k8s:prerelease-lifecycle-gen:"+of) {
			_, text, _ := strings.Cut(value, ".")
			n, _ = strconv.Atoi(text) // 0 is none
		}
		return n
	}
	removed, introduced := minor("removed"), minor("introduced")
	if isPrerelease := strings.Contains(path.Base(t.Package), "alpha") || strings.Contains(path.Base(t.Package), "beta"); removed == 0 && introduced > 0 && isPrerelease {
		return introduced + prerelease
	}
	return removed
}

func (t *Type) has(marker string) bool { return slices.Contains(t.Markers, marker) }

// Valued are what markers of a name say: of +enum=a and +enum=b, a and b.
func Valued(markers []string, name string) (values []string) {
	for _, m := range markers {
		if value, is := strings.CutPrefix(m, name+"="); is {
			values = append(values, value)
		}
	}
	return values
}

// Types are all types, sorted by package and name.
func (a *API) Types() (all []*Type) {
	for _, name := range slices.Sorted(maps.Keys(a.types)) {
		all = append(all, a.types[name])
	}
	return all
}

// Values are all values that a field of a type can have; none if the types do not say that.
func (a *API) Values(r Ref) []string {
	if t, known := a.types[r.Name]; known && (t.has("enum") || t.has("k8s:enum")) {
		return t.Values
	}
	return nil
}

// String is the type as Go has it, in short: []core/v1.Container.
func (r Ref) String() string {
	switch {
	case r.Map:
		return "map[string]" + short(r.Name)
	case r.List:
		return "[]" + short(r.Name)
	default:
		return short(r.Name)
	}
}

// String is the type in short: core/v1.Container.
func (t *Type) String() string { return short(t.Package) + "." + t.Name }

// short is a name without what most begin with.
func short(name string) string { return strings.TrimPrefix(name, "k8s.io/api/") }
