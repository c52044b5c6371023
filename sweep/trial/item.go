// Package trial plans a sweep and judges it: which objects are made, how a control plane changes while they are
// there, what is done to each, and what of that should not be. Package engine runs it.
package trial

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/object"
)

// Used is a field that an object uses.
type Used struct {
	// Field is the field, Gates guard it, and Path is where the object has it. If unset, the object
	// uses no field: it is a control.
	Field string   `json:"field,omitempty"`
	Gates []string `json:"gates,omitempty"`
	Path  string   `json:"path,omitempty"`
	// Under are the gates of the fields that it is in.
	Under []string `json:"under,omitempty"`
	// ByComment is true if it is the comment of the field that names the gates, and no marker.
	ByComment bool `json:"byComment,omitempty"`
}

// Use is an object that uses a field.
type Use struct {
	Used

	// And are other fields that it uses. If unset, there are none.
	And []Used `json:"and,omitempty"`
	// APIVersion and Kind are those of the object, and Resource is its kind in the plural.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Resource   string `json:"resource"`
	// Namespaced is true if the object is in a namespace, and Conditions if its status has conditions.
	Namespaced bool           `json:"namespaced"`
	Conditions bool           `json:"conditions,omitempty"`
	Object     map[string]any `json:"object"`
	// Unknown is true if the release that components change to does not have the fields.
	Unknown bool `json:"unknown,omitempty"`
}

// Fields are all that the object uses.
func (u Use) Fields() []Used {
	if u.IsControl() {
		return nil
	}
	return append([]Used{u.Used}, u.And...)
}

// FieldNames are those of all fields.
func (u Use) FieldNames() (names []string) {
	for _, f := range u.Fields() {
		names = append(names, f.Field)
	}
	return names
}

// String is a kind with its fields: "Pod with core/v1.EnvVarSource.fileKeyRef".
func (u Use) String() string {
	if u.IsControl() {
		return u.Kind + " without a gated field"
	}
	return u.Kind + " with " + strings.Join(u.FieldNames(), " and ")
}

// AllGates are those of all fields, and of what these are in, sorted.
func (u Use) AllGates() (all []string) {
	for _, f := range u.Fields() {
		all = append(append(all, f.Gates...), f.Under...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// IsControl reports whether the object uses no field.
func (u Use) IsControl() bool { return u.Field == "" }

// Item is an object of a sweep, and what is done to it.
type Item struct {
	Use

	// Name is that of the object.
	Name      string    `json:"name"`
	Mutations Mutations `json:"touches"`
}

// named is an item whose object has a name.
func named(u Use, name string, mutations ...Mutation) Item {
	u.Object = renamed(u.Object, object.Name, name)
	return Item{Use: u, Name: name, Mutations: mutations}
}

// Key is the object as a timeline has it, which is in a namespace if its kind is.
func (i Item) Key(namespace string) string {
	if !i.Namespaced {
		namespace = ""
	}
	return path.Join(i.Resource, namespace, i.Name)
}

// Late reports whether the object is made only after the change, with or without the field.
func (i Item) Late() bool {
	return slices.ContainsFunc(i.Requests(), func(r law.Request) bool { return r.Verb == law.Creates })
}

// Items are an object for each use and each mutation that its kind can take.
func Items(uses []Use) (all []Item) {
	for _, u := range uses {
		for _, mutation := range mutationsOf(u, func(kindOfMutation) bool { return true }) {
			all = append(all, named(u, fmt.Sprintf("s%04d", len(all)), mutation))
		}
	}
	return all
}

// renamed copies an object with another name, which is also the value of its labels app.
func renamed(object map[string]any, from, to string) map[string]any {
	c := relabeled(object, from, to).(map[string]any) //nolint:forcetypeassert // it is a copy
	metadata, is := c["metadata"].(map[string]any)
	if !is {
		metadata = make(map[string]any)
		c["metadata"] = metadata
	}
	metadata["name"] = to
	return c
}

func relabeled(v any, from, to string) any {
	switch v := v.(type) {
	case map[string]any:
		c := maps.Clone(v)
		for key, below := range c {
			if key == "app" && below == any(from) {
				below = to
			}
			c[key] = relabeled(below, from, to)
		}
		return c
	case []any:
		c := slices.Clone(v)
		for i, below := range c {
			c[i] = relabeled(below, from, to)
		}
		return c
	default:
		return v
	}
}
