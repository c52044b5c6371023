// Package facts is what is read of an existing cluster before anything runs there.
package facts

import "github.com/skewrig/skewrig/harness/release"

// Cluster is an existing cluster.
type Cluster struct {
	// Version is what the API server says that it is (GET /version, gitVersion), such as
	// "v1.90.1-eks.3".
	Version string
	// Emulated is the minor version that the API server emulates (KEP-4330), such as "v1.89".
	// If unset, its own.
	Emulated string
	// Gates are those of the API server.
	Gates Gates
	// Controllers are the controller manager and the scheduler. They are read of a cluster that was made
	// for cells only.
	Controllers []Component
	// Nodes are those that may be used, sorted by name.
	Nodes []Node
}

// Component is a component of a control plane, as its metrics have it.
type Component struct {
	// Name is that of its program.
	Name string
	// Version is what it says that it is (the metric kubernetes_build_info), such as "v1.90.1".
	Version string
	Gates   Gates
}

// Node is a node of an existing cluster.
type Node struct {
	Name string
	// Version is what the kubelet says that it is (status.nodeInfo.kubeletVersion).
	Version string
	// Unusable is why no pod is to come to the node, such as "not ready". If unset, pods may.
	Unusable string
	// Gates are those of the kubelet.
	Gates Gates
	// Images are those that the node says it has (status.images).
	Images []string
	// Addresses are the node's own names and IP addresses.
	Addresses []string
}

// Gates are the feature gates of a component, as its metric kubernetes_feature_enabled has
// them (KEP-3466).
type Gates struct {
	// Set are all gates that the component knows.
	Set release.Gates
	// Unread is why they are not known. If unset, they are.
	Unread string
}
