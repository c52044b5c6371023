package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/sweep/object"
)

// cut is something that is taken away from an item: a mutation, a field that a gate guards, or any other field. One
// of them is set.
type cut struct {
	mutation Mutation
	field    string
	path     string
}

// without is an item with less.
func without(i Item, cuts ...cut) Item {
	i.Object = runtime.DeepCopyJSON(i.Object)
	for _, c := range cuts {
		i.Mutations = slices.DeleteFunc(slices.Clone(i.Mutations), func(t Mutation) bool { return t == c.mutation && len(i.Mutations) > 1 })
		if n := slices.IndexFunc(i.And, func(f Used) bool { return f.Field == c.field }); n >= 0 {
			kube.Remove(i.Object, i.And[n].Path)
			i.And = slices.Delete(slices.Clone(i.And), n, n+1)
		}
		if c.path != "" {
			kube.Remove(i.Object, c.path)
		}
	}
	return i
}

// cuts are all that can be taken away from an item. Fields that gates guard, and what they are in, stay.
func cuts(i Item) (all []cut) {
	if len(i.Mutations) > 1 {
		for _, t := range i.Mutations {
			all = append(all, cut{mutation: t})
		}
	}
	for _, f := range i.And {
		all = append(all, cut{field: f.Field})
	}
	var walk func(in map[string]any, above string)
	walk = func(in map[string]any, above string) {
		for _, name := range slices.Sorted(maps.Keys(in)) {
			path := strings.TrimPrefix(above+"."+name, ".")
			if slices.Contains([]string{"apiVersion", "kind", "metadata"}, path) {
				continue
			}
			if !slices.ContainsFunc(i.Fields(), func(f Used) bool {
				return strings.HasPrefix(f.Path+".", path+".") || strings.HasPrefix(f.Path, path+"[]")
			}) {
				all = append(all, cut{path: path})
			}
			switch below := in[name].(type) {
			case map[string]any:
				walk(below, path)
			case []any:
				if len(below) > 0 {
					first, _ := below[0].(map[string]any)
					walk(first, path+"[]")
				}
			}
		}
	}
	walk(i.Object, "")
	return all
}

// Smaller are an item and all that lack one thing of it, in one plan.
type Smaller struct {
	// Plan has the item first.
	Plan Plan

	item Item
	cuts map[string]cut // by the name of an item
}

// maxCuts is how much is taken away at the same time.
const maxCuts = 120

// Only are some items, as they are.
func Only(p Plan, items ...Item) Smaller {
	s := Smaller{Plan: p}
	s.Plan.Items = nil
	for n, i := range items {
		s.item = i
		s.Plan.Items = append(s.Plan.Items, named(withName(i.Use, i.Name), fmt.Sprintf("s%04d", n), i.Mutations...))
	}
	return s
}

// withName is an object with the name that objects have at first.
func withName(u Use, name string) Use {
	u.Object = renamed(u.Object, name, object.Name)
	return u
}

// Shrink is the plan with which an item is made smaller.
func Shrink(p Plan, i Item) Smaller {
	s := Smaller{Plan: p, item: i, cuts: make(map[string]cut)}
	s.Plan.Random = true // the API server refuses some
	add := func(v Item) string {
		name := fmt.Sprintf("s%04d", len(s.Plan.Items))
		s.Plan.Items = append(s.Plan.Items, named(withName(v.Use, i.Name), name, v.Mutations...))
		return name
	}
	s.Plan.Items = nil
	add(i)
	all := cuts(i)
	for _, c := range all[:min(len(all), maxCuts)] {
		s.cuts[add(without(i, c))] = c
	}
	return s
}

// Shows reports whether the item itself shows a finding that says what, or, of a component that panics, any.
func (s Smaller) Shows(what string, found []Finding) bool {
	red := s.red(what, found)
	return red[s.Plan.Items[0].Name] || red[""]
}

// Next is the item without all that was taken away of it one by one while it showed what a finding says, and
// whether that is anything.
func (s Smaller) Next(what string, found []Finding) (Item, bool) {
	red := s.red(what, found)
	var off []cut
	for _, i := range s.Plan.Items {
		if c, is := s.cuts[i.Name]; is && red[i.Name] {
			off = append(off, c)
		}
	}
	return without(s.item, off...), len(off) > 0
}

// First is the item without the first thing that can be taken away. It is for when all together is too much.
func (s Smaller) First(what string, found []Finding) Item {
	red := s.red(what, found)
	for _, i := range s.Plan.Items {
		if c, is := s.cuts[i.Name]; is && red[i.Name] {
			return without(s.item, c)
		}
	}
	return s.item
}

func (s Smaller) red(what string, found []Finding) map[string]bool {
	red := make(map[string]bool)
	for _, f := range found {
		for _, i := range f.Items {
			red[i.Name] = red[i.Name] || f.What == what
		}
	}
	return red
}
