package manifest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// Input is what was read from files.
type Input struct {
	// Objects are in the order of the input.
	Objects []Object
	// Problems are the documents that are left out, and objects of which another version is used.
	Problems []Problem
	// Files and Documents count what was read. The items of a List are one document.
	Files     int
	Documents int
	// Owned counts objects that are left out since the controller of another object of the input makes them.
	Owned int
	// LeftOut counts other objects that are left out without a problem, by what they are: events, hooks of helm.
	LeftOut map[string]int
}

// settle compares objects with each other, and removes what a server sets from those that stay.
func settle(objects []Object) Input {
	in := Input{LeftOut: make(map[string]int)}
	owners := newOwners(objects)
	for _, o := range objects {
		switch why := leftOut(o); {
		case why != "":
			in.LeftOut[why]++
		case owners.makes(o.Object):
			in.Owned++
		default:
			in.Objects = append(in.Objects, o)
		}
	}
	for _, o := range in.Objects { // not before all owners are known
		strip(o.Object)
	}
	in.last()
	return in
}

// leftOut returns the class of an object that no install stores, or "".
func leftOut(o Object) string {
	if !o.Hook.installs() {
		return "hooks of helm that no install runs"
	}
	return generated(o.Object)
}

// identity is by what an API server knows an object. The group stands without its version.
type identity struct{ groupKind, namespace, name string }

func identify(object map[string]any) identity {
	metadata := metadataOf(object)
	return identity{groupKind(object), cmp.Or(text(metadata, "namespace"), "default"), text(metadata, "name")}
}

// last keeps the last one of objects that are stored twice, as kubectl apply does.
func (in *Input) last() {
	last := make(map[identity]Object, len(in.Objects))
	for _, o := range in.Objects {
		last[identify(o.Object)] = o
	}
	if len(last) == len(in.Objects) {
		return
	}
	in.Objects = slices.DeleteFunc(in.Objects, func(o Object) bool {
		used := last[identify(o.Object)]
		if used.same(o) {
			return false
		}
		if !reflect.DeepEqual(used.Object, o.Object) {
			why := fmt.Sprintf("stored twice; the one at %s is used", used.Place)
			in.Problems = append(in.Problems, Problem{Place: o.Place, Object: calledBy(o.Object), Why: why, Harmless: true})
		}
		return true
	})
}

// same reports whether two objects are one, which a map has once.
func (o Object) same(other Object) bool {
	return reflect.ValueOf(o.Object).Pointer() == reflect.ValueOf(other.Object).Pointer()
}

// owners finds the objects that a controller makes from another object of the input.
type owners struct {
	byUID map[string]map[string]any
	byID  map[identity]map[string]any
}

func newOwners(objects []Object) owners {
	found := owners{make(map[string]map[string]any), make(map[identity]map[string]any)}
	for _, o := range objects {
		if makers[groupKind(o.Object)] {
			found.byID[identify(o.Object)] = o.Object
			if uid := text(metadataOf(o.Object), "uid"); uid != "" {
				found.byUID[uid] = o.Object
			}
		}
	}
	return found
}

// makers are the kinds whose controllers are part of Kubernetes. What an operator makes is kept: no operator runs.
var makers = map[string]bool{
	"Deployment.apps": true, "ReplicaSet.apps": true, "StatefulSet.apps": true, "DaemonSet.apps": true,
	"Job.batch": true, "CronJob.batch": true, "ReplicationController": true,
	"Service": true, "Endpoints": true, "Pod": true,
}

// makes reports whether a controller makes an object. Owners that own each other are made by none.
func (w owners) makes(object map[string]any) bool {
	seen := make(map[identity]bool)
	at := object
	for owner := w.ownerOf(at); owner != nil; owner = w.ownerOf(at) {
		if seen[identify(at)] {
			return false
		}
		seen[identify(at)] = true
		at = owner
	}
	return len(seen) > 0
}

// ownerOf returns the object that controls an object, or nil.
func (w owners) ownerOf(object map[string]any) map[string]any {
	metadata := metadataOf(object)
	references, _ := metadata["ownerReferences"].([]any)
	for _, r := range references {
		reference, _ := r.(map[string]any)
		if reference["controller"] != true {
			continue
		}
		if owner := w.byUID[text(reference, "uid")]; owner != nil {
			return owner
		}
		id := identify(reference)
		id.name = text(reference, "name")
		id.namespace = cmp.Or(text(metadata, "namespace"), "default")
		return w.byID[id]
	}
	return nil
}
