package action

import (
	"slices"
	"strings"

	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Reach is how far an action reaches on a control plane that several cells use, each with
// nodes and namespaces of its own.
type Reach int

// The reaches, the least first.
const (
	// ReachOwn is what is a cell's own: its nodes, and objects in its namespaces.
	ReachOwn Reach = iota
	// ReachShared is what other cells leave traces in: metrics, logs and sockets of the
	// control plane. It stays as it is.
	ReachShared
	// ReachChanges is the control plane itself, which is not the same afterwards.
	ReachChanges
	// ReachAll is what can't be attributed to one cell, such as objects without a namespace.
	ReachAll
)

// ReachOf is how far an action reaches.
func ReachOf(a Action) Reach {
	f := a.Facts()
	if f.Needs == 0 {
		return ReachAll // nothing is known of it
	}
	return f.Reach
}

// ofComponent is how far an action reaches that is about a component: as far as it would
// for one of the control plane, unless it is a kubelet.
func ofComponent(component string, ofControlPlane Reach) Reach {
	if strings.HasPrefix(component, spec.KubeletPrefix) {
		return ReachOwn
	}
	return ofControlPlane
}

// ofObject is how far a new object reaches.
func ofObject(object map[string]any) Reach {
	kind, _ := object["kind"].(string)
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	if kube.ByName(kind).Extent < kube.SelfContained || strings.HasPrefix(namespace, "kube-") || LooksAround(object) {
		return ReachAll
	}
	return ReachOwn
}

// LooksAround reports whether a part of an object has a scheduler look at the pods of
// namespaces that it names or selects, or at nodes that the pod can't come to: those of
// other cells are among them.
func LooksAround(part any) bool {
	switch part := part.(type) {
	case map[string]any:
		for field, value := range part {
			_, several := value.([]any)
			switch {
			case field == "namespaceSelector" && value != nil, field == "namespaces" && several,
				field == "nodeAffinityPolicy" && value == "Ignore", LooksAround(value):
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(part, LooksAround)
	}
	return false
}

// ofRef is how far an action reaches that is about an object. The nodes of a rig are its
// own.
func ofRef(ref spec.ObjectRef) Reach {
	switch {
	case ref.Cluster != "", strings.HasPrefix(ref.Namespace, "kube-"):
		return ReachAll
	case ref.Resource == "nodes", !kube.ClusterScoped(ref.Resource):
		return ReachOwn
	default:
		return ReachAll
	}
}
