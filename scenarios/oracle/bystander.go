package oracle

import (
	"reflect"
	"slices"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// nothingElseChanges looks at the bystanders: workloads that use no field, that
// the scenario leaves alone, and whose servers answer every probe well. From
// when they are settled, and through each restart of a component, they must
// stay as they are.
func nothingElseChanges(r *run) finding {
	var f finding
	bystanders := law.Bystanders{Timeline: r.Timeline, SameSpec: r.sameSpec}
	for _, versions := range r.byUID {
		if !r.leftAlone(versions) {
			continue
		}
		looked, fault := bystanders.Stays(versions)
		f.lookedAt(looked)
		if fault != "" {
			f.fault("%s", fault)
		}
	}
	return f
}

// leftAlone reports whether an object uses no field, and neither does what it
// was made from, and whether the scenario has changed none of them.
func (r *run) leftAlone(versions []*timeline.Version) bool {
	first := versions[0]
	if slices.ContainsFunc(versions, r.uses) || r.touched(first) {
		return false
	}
	for _, owner := range first.Meta().OwnerReferences {
		for _, others := range r.byUID {
			if others[0].Meta().UID == owner.UID && !r.leftAlone(others) {
				return false
			}
		}
	}
	return true
}

// touched reports whether the scenario has changed, evicted or deleted an object, or
// wanted it to have a field.
func (r *run) touched(v *timeline.Version) bool {
	for _, a := range r.asked {
		if a.Object != v.Key || a.Response.Meta().UID != v.Meta().UID {
			continue
		}
		if wanted, known := r.manifest(a); !a.Created() || !known || r.uses(wanted) {
			return true
		}
	}
	return slices.ContainsFunc(r.cell.Steps, func(s plan.Step) bool {
		facts := s.Action.Facts()
		evicts := facts.Writes != nil && facts.Writes.Subresource == "eviction" && facts.Writes.Ref.String() == v.Key
		deletes := facts.Deletes.Names(v.Cluster, v.Resource, v.Namespace, v.Name)
		return evicts || deletes || facts.Static.Remove != "" && v.Name == facts.Static.Remove+"-"+facts.Static.Node
	}) || r.touchedFile(v)
}

// touchedFile reports whether the scenario has changed the file of a static pod, or
// wanted it to have a field.
func (r *run) touchedFile(v *timeline.Version) bool {
	written := 0
	for _, file := range r.Versions {
		if file.Static() && file.Key == v.Key {
			if written++; written > 1 || r.uses(file) {
				return true
			}
		}
	}
	return false
}

// sameSpec reports whether two objects have the same spec but for what an API server
// fills in, which field-survival follows.
func (r *run) sameSpec(was, is *timeline.Version) bool {
	if reflect.DeepEqual(was.Fields()["spec"], is.Fields()["spec"]) {
		return true
	}
	return reflect.DeepEqual(r.withoutDefaults(was)["spec"], r.withoutDefaults(is)["spec"])
}

func (r *run) withoutDefaults(v *timeline.Version) map[string]any {
	object := timeline.NewRaw(v.Text()).Fields() // others have the fields of the version
	for _, f := range r.Fields {
		f.WithoutDefault(v.Resource, object)
	}
	return object
}
