package provider

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/scenarios/spec"
)

// Names turns the names that a cell has for its nodes and namespaces into those that the API server knows. The zero value
// leaves them as they are.
type Names struct {
	// Suffix is appended to the names of namespaces. If unset, objects are sent as the scenario has them.
	Suffix string
	// Node returns the name of a node. It must be set with a suffix.
	Node func(string) string
	// Confine makes a scheduler choose the cell's nodes for a pod that says nothing of its node. If unset, none chooses.
	Confine func(pod map[string]any)
	// Container returns a container of a field of a pod as the API server is to have it. If unset, it is sent as it is.
	Container func(c map[string]any, field string) map[string]any
}

// Namespace returns what the API server calls a namespace.
func (n Names) Namespace(name string) string { return name + n.Suffix }

// Ref returns what the API server calls an object.
func (n Names) Ref(r spec.ObjectRef) spec.ObjectRef {
	switch {
	case r.Namespace != "":
		r.Namespace = n.Namespace(r.Namespace)
	case r.Resource == "nodes" && n.Node != nil:
		r.Name = n.Node(r.Name)
	}
	return r
}

// Object returns the manifest of a namespaced object as the API server is to have it.
func (n Names) Object(manifest map[string]any) map[string]any {
	if n.Suffix == "" {
		return manifest
	}
	manifest = n.Within(manifest)
	metadata, _ := manifest["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = make(map[string]any)
	}
	own, _ := metadata["namespace"].(string)
	metadata["namespace"] = n.Namespace(cmp.Or(own, metav1.NamespaceDefault))
	manifest["metadata"] = metadata
	pod, _ := manifest["spec"].(map[string]any)
	if template, has := pod["template"].(map[string]any); has {
		pod, _ = template["spec"].(map[string]any)
	}
	if n.Confine != nil && pod["containers"] != nil && pod["nodeName"] == nil {
		n.Confine(pod)
	}
	return manifest
}

// Within returns a part of an object, in which nodes have the names that the API server knows.
func (n Names) Within(part map[string]any) map[string]any {
	if n.Suffix == "" {
		return part
	}
	named, _ := n.value("", part).(map[string]any)
	return named
}

// namesNodes are the fields that name nodes, also within lists and maps.
var namesNodes = []string{"nodeName", "nodeSelector", "values"}

// ContainerLists are the fields of a pod that have containers.
var ContainerLists = []string{"containers", "initContainers", "ephemeralContainers"}

func (n Names) value(field string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		named := make(map[string]any, len(v))
		for key, of := range v {
			at := key
			if slices.Contains(namesNodes, field) {
				at = field
			}
			named[key] = n.value(at, of)
		}
		return named
	case []any:
		named := make([]any, len(v))
		for i, of := range v {
			named[i] = n.value(field, of)
			if c, is := named[i].(map[string]any); is && n.Container != nil && slices.Contains(ContainerLists, field) {
				named[i] = n.Container(c, field)
			}
		}
		return named
	case string:
		if slices.Contains(namesNodes, field) {
			return n.Node(v)
		}
	}
	return value
}

// Path returns the path of a request, in which a namespace has the name that the API server knows.
func (n Names) Path(path string) string {
	segments := strings.Split(path, "/")
	for i := range segments {
		if i > 0 && (segments[i-1] == "namespaces" || segments[i-1] == "containerLogs") && segments[i] != "" {
			segments[i] = n.Namespace(segments[i])
		}
	}
	return strings.Join(segments, "/")
}
