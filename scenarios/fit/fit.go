// Package fit says which cells can run on an existing cluster, as which of its nodes, and
// why the others can't: they change what is not theirs, read what only a rig records, or want
// other releases and gates than the cluster has. It takes a plan and what was read of a
// cluster, and does no I/O.
package fit

import (
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Fit is how a cell fits a cluster.
type Fit struct {
	// Reasons are why the cell can't run there, all of them. If unset, it can.
	Reasons []string
	// Nodes are the nodes of the cluster by the names that the scenario has for them.
	Nodes map[string]facts.Node
}

// Reason is all Reasons in one sentence.
func (f Fit) Reason() string { return strings.Join(f.Reasons, "; ") }

// Use is what cells may do on a cluster besides making objects in namespaces of their own.
type Use struct {
	// Components are the cell's: kubelets and those of the control plane may be stopped and started, also
	// as another release and with other gates, and what they serve, the logs of kubelets, and the whole
	// objects of nodes may be read. Who wants no controller manager, or no scheduler, has none.
	Components bool
	// Containers have what they do and see on the wire recorded, and are played as on a rig. On nodes
	// that are not the cell's, by an image that writes the record into its output.
	Containers bool
}

// Made is what cells may do on a cluster that was made for them.
var Made = Use{Components: true, Containers: true}

// Of is how a cell fits a cluster that may be used so. images are patterns of the images that its
// nodes can pull, of those that the scenario has fake servers for. If containers are played, they need
// none.
func (u Use) Of(cell plan.Cell, on facts.Cluster, images []string) Fit {
	nodes, why := nodesOf(cell, on)
	server := record.Component{Version: cell.Topology.Version, Gates: cell.Topology.Gates}
	reasons := append(u.Itself(cell), wrongServer(server, on)...)
	reasons = append(reasons, why...)
	if len(why) == 0 && !u.Containers {
		reasons = append(reasons, unpulled(cell, nodes, images)...)
	}
	if len(reasons) > 0 {
		return Fit{Reasons: reasons}
	}
	return Fit{Nodes: nodes}
}

// OfMade is how a cell fits a cluster that was made for its topology, and whose nodes have the cell's names.
func OfMade(t record.Topology, on facts.Cluster) Fit {
	fit := Fit{Nodes: make(map[string]facts.Node)}
	for _, c := range t.ControlPlane() {
		fit.Reasons = append(fit.Reasons, wrongComponent(c, on)...)
	}
	for _, n := range t.Nodes {
		is, why := KubeletOfMade(n, on)
		if is.Unusable != "" {
			why = "is " + is.Unusable
		}
		if fit.Nodes[n.Name] = is; why != "" {
			fit.Reasons = append(fit.Reasons, n.Name+" "+why)
		}
	}
	return fit
}

// KubeletOfMade is a node of a cluster that was made for a cell, by the cell's name, and why its kubelet is not what was to
// run there; empty if it is. Whether pods may come to the node does not count: as a kubelet starts, a controller manager may
// taint its node, and takes some seconds to see that it is ready.
func KubeletOfMade(wanted record.Node, on facts.Cluster) (is facts.Node, why string) {
	at := slices.IndexFunc(on.Nodes, func(is facts.Node) bool { return is.Name == wanted.Name })
	if at < 0 {
		return is, "is not there"
	}
	return on.Nodes[at], wrongKubelet(wanted, on.Nodes[at])
}

// Itself are the reasons for which a cell can run on no cluster that may be used so.
func (u Use) Itself(cell plan.Cell) []string {
	reasons := u.topology(cell.Topology)
	reasons = append(reasons, u.steps(cell)...)
	reasons = append(reasons, u.readings(cell)...)
	return append(reasons, namespaces(cell)...)
}
