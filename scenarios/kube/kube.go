// Package kube has one table of Kubernetes' kinds of objects, and answers what is asked about them.
package kube

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is a kind of objects.
type Kind struct {
	// Name is the kind in a manifest, and Resource its name in the path of a request.
	Name, Resource string
	// ClusterScoped is true if its objects have no namespace.
	ClusterScoped bool
	// Subresources are those that can be written.
	Subresources []string
	// Extent is what its objects affect.
	Extent Extent
	// Makes is the resource whose objects a controller creates from an object, with names that begin with its own.
	Makes string
	// PerTemplate is the resource of which a controller creates one object for each template that an object has had.
	PerTemplate string
	// Authored is true if neither an API server nor a controller creates objects of it.
	Authored bool
	// Transient is true if an object is only a request or an answer, and is not stored.
	Transient bool
	// Type is the Go type of the objects, if each release has one version of the kind only.
	Type reflect.Type
}

// Extent is what an object can affect, in ascending order of safety.
type Extent int

// The extents.
const (
	// Unbounded objects can affect all of a cluster.
	Unbounded Extent = iota
	// SideEffects are objects in a namespace because of which volumes, devices or other objects come and go.
	SideEffects
	// Namespaced are objects that affect nothing outside of their namespace: no volume, load balancer or right
	// comes with them.
	Namespaced
	// SelfContained are also objects that refer to nothing outside of their namespace but nodes.
	SelfContained
)

// HasPods reports whether a controller creates pods from an object's template, directly or not.
func (k Kind) HasPods() bool { return k.Makes != "" }

// IsScalable reports whether an object has a number of replicas that can be set by its subresource scale.
func (k Kind) IsScalable() bool { return slices.Contains(k.Subresources, "scale") }

// IsRecordable reports whether objects of the kind can be watched and have keys in a record. Events are recorded by
// what they are about.
func (k Kind) IsRecordable() bool { return k.Name != "" && !k.Transient && k.Name != Event }

// Event is the kind of events.
const Event = "Event"

// Kinds returns all kinds that Kubernetes has, by name.
func Kinds() []Kind { return slices.Clone(kinds) }

// ByName returns the kind of a name. It is empty for one that is not in Kubernetes.
func ByName(name string) Kind { return find(func(k Kind) bool { return k.Name == name }) }

// ByResource returns the kind of a resource. It is empty for one that is not in Kubernetes.
func ByResource(resource string) Kind {
	return find(func(k Kind) bool { return k.Resource == resource })
}

func find(is func(Kind) bool) Kind {
	if i := slices.IndexFunc(kinds, is); i >= 0 {
		return kinds[i]
	}
	return Kind{}
}

// Resource returns the resource of a kind. For a custom one it is a guess: its definition can say something else.
func Resource(kind string) string {
	resource, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind})
	return resource.Resource
}

// ClusterScoped reports whether the objects of a built-in resource have no namespace.
func ClusterScoped(resource string) bool {
	return resource == "clusters" || ByResource(resource).ClusterScoped
}

// Definition returns the kind and the resource that an object defines, if it is a CustomResourceDefinition.
func Definition(object map[string]any) (kind, resource string, is bool) {
	spec, _ := object["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	kind, _ = names["kind"].(string)
	resource, _ = names["plural"].(string)
	return kind, resource, object["kind"] == "CustomResourceDefinition" && resource != ""
}

// PodTemplate returns where an object, or a patch of one, has the template of pods; nil if it has none.
func PodTemplate(object map[string]any) []string {
	if kind := object["kind"]; kind == "PodTemplate" {
		return []string{"template"}
	}
	for _, path := range [][]string{{"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		if in(object, path) != nil {
			return path
		}
	}
	return nil
}

// PodSpec returns the spec of the pod that an object is or has a template of; nil if there is none. The spec of a
// patch, which has no kind, may be that of a pod.
func PodSpec(object map[string]any) map[string]any {
	path := PodTemplate(object)
	if kind, _ := object["kind"].(string); path == nil && kind != "" && kind != "Pod" {
		return nil
	}
	pod, _ := in(object, append(slices.Clone(path), "spec")).(map[string]any)
	return pod
}

// in returns what is at a path of an object, or nil.
func in(object any, path []string) any {
	for _, name := range path {
		fields, _ := object.(map[string]any)
		object = fields[name]
	}
	return object
}
