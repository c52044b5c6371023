package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// names turns the names that a cell has for its nodes and namespaces into those that the
// API server knows. Without a suffix they are the same.
type names struct {
	suffix string
	nodes  []string // of the cell, by its own names
	// scheduled is true if a scheduler chooses among the nodes of all cells.
	scheduled bool
	// played are the nodes of an existing cluster, by the names that the cell has for them. If
	// unset, nodes have the cell's own names with the suffix.
	played map[string]string
	// player plays the images of the cell. If unset, nodes have them, or pull them.
	player *player
}

// namespace is what the API server calls a namespace.
func (n names) namespace(name string) string { return name + n.suffix }

// ref is what the API server calls an object.
func (n names) ref(r spec.ObjectRef) spec.ObjectRef {
	switch {
	case r.Namespace != "":
		r.Namespace = n.namespace(r.Namespace)
	case r.Resource == "nodes":
		r.Name = n.node(r.Name)
	}
	return r
}

func (n names) node(name string) string {
	if n.played != nil {
		return cmp.Or(n.played[name], name)
	}
	if slices.Contains(n.nodes, name) {
		return name + n.suffix
	}
	return name
}

// object is a manifest of a namespaced object, as the API server is to have it.
func (n names) object(manifest map[string]any) map[string]any {
	if n.suffix == "" {
		return manifest
	}
	manifest = n.within(manifest)
	metadata, _ := manifest["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = make(map[string]any)
	}
	own, _ := metadata["namespace"].(string)
	metadata["namespace"] = n.namespace(cmp.Or(own, metav1.NamespaceDefault))
	manifest["metadata"] = metadata
	spec, _ := manifest["spec"].(map[string]any)
	if template, has := spec["template"].(map[string]any); has {
		spec, _ = template["spec"].(map[string]any)
	}
	if n.scheduled && spec["containers"] != nil {
		n.toOwnNodes(spec)
	}
	return manifest
}

// toOwnNodes has pods come to nodes of the cell, wherever a scheduler has the choice.
func (n names) toOwnNodes(pod map[string]any) {
	if pod["nodeName"] != nil {
		return
	}
	if n.played != nil {
		n.toPlayedNodes(pod)
		return
	}
	selector, _ := pod["nodeSelector"].(map[string]any)
	if selector == nil {
		selector = make(map[string]any)
	}
	selector[cluster.RigLabel] = strings.TrimPrefix(n.suffix, "-")
	pod["nodeSelector"] = selector
}

// added are the texts that records of the cell leave out: what is not of the scenario.
func (n names) added() []string {
	label := fmt.Sprintf("%q:%q", cluster.RigLabel, strings.TrimPrefix(n.suffix, "-"))
	selector := `"nodeSelector":{` + label + `}`
	return []string{selector + ",", "," + selector, label + ",", "," + label, n.suffix}
}

// within is a part of an object, in which nodes have the names that the API server knows.
func (n names) within(part map[string]any) map[string]any {
	if n.suffix == "" {
		return part
	}
	named, _ := n.value("", part).(map[string]any)
	return named
}

// namesNodes are the fields that name nodes, also within lists and maps.
var namesNodes = []string{"nodeName", "nodeSelector", "values"}

func (n names) value(field string, value any) any {
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
			if c, is := named[i].(map[string]any); is && n.player != nil && slices.Contains(containerLists, field) {
				named[i] = n.player.send(c, field)
			}
		}
		return named
	case string:
		if slices.Contains(namesNodes, field) {
			return n.node(v)
		}
	}
	return value
}

// path is a path of a request, in which a namespace has the name that the API server knows.
func (n names) path(path string) string {
	segments := strings.Split(path, "/")
	for i := range segments {
		if i > 0 && (segments[i-1] == "namespaces" || segments[i-1] == "containerLogs") && segments[i] != "" {
			segments[i] = n.namespace(segments[i])
		}
	}
	return strings.Join(segments, "/")
}
