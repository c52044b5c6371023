package fit

import (
	"slices"
	"strings"

	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Access is what a cell does with the objects of a resource in its namespaces.
type Access struct {
	Verb, Resource string
}

// Accesses are what cells do with objects, each once, sorted. Of the resources whose objects go
// into the record, it is to list and to watch; of pods whose containers are played, to read their output.
func (u Use) Accesses(cells []plan.Cell) (all []Access) {
	add := func(resource string, verbs ...string) {
		for _, verb := range verbs {
			if a := (Access{verb, resource}); resource != "" && !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	for _, cell := range cells {
		if u.Containers && len(cell.Uses.Images) > 0 {
			add("pods/log", "get")
		}
		for _, resource := range Observed(cell) {
			add(resource, "list", "watch")
		}
		for _, step := range cell.Steps {
			facts := step.Action.Facts()
			for _, object := range facts.Creates {
				add(resourceOf(object), "create")
			}
			if w := facts.Writes; w != nil {
				of := w.Ref
				if of.Resource == "" {
					of.Resource = resourceOf(w.Body)
				}
				add(part(of, w.Subresource), verbs[w.Verb]...)
			}
			verb := "delete"
			if facts.Deletes.Name == spec.Everything {
				verb = "deletecollection"
			}
			add(facts.Deletes.Resource, verb)
		}
	}
	slices.SortFunc(all, func(a, b Access) int {
		return strings.Compare(a.Resource+" "+a.Verb, b.Resource+" "+b.Verb)
	})
	return all
}

// resourceOf is that of an object which affects only its namespace; empty for any other.
func resourceOf(object map[string]any) string {
	name, _ := object["kind"].(string)
	if kind := kube.ByName(name); kind.Extent >= kube.Namespaced {
		return kind.Resource
	}
	return ""
}

// verbs are those of the API that a write takes.
var verbs = map[action.Verb][]string{
	action.Creates: {"create"}, action.Patches: {"patch"}, action.Applies: {"patch"}, action.Puts: {"get", "update"},
}

// part is a resource with a subresource, as RBAC writes it.
func part(of spec.ObjectRef, subresource string) string {
	if subresource == "" || of.Resource == "" {
		return of.Resource
	}
	return of.Resource + "/" + subresource
}
