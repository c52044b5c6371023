// Package fit says which cells can run on an existing cluster, as which of its nodes, and
// why the others can't: they change what is not theirs, read what only a rig records, or want
// other releases and gates than the cluster has. It takes a plan and what was read of a
// cluster, and does no I/O.
package fit

import (
	"strings"

	"github.com/skewrig/skewrig/harness/existing/facts"
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

// Of is how a cell fits a cluster. images are patterns of the images that its nodes can pull,
// of those that the scenario has fake servers for.
func Of(cell plan.Cell, on facts.Cluster, images []string) Fit {
	nodes, why := nodesOf(cell, on)
	reasons := append(Itself(cell), wrongServer(cell, on)...)
	reasons = append(reasons, why...)
	if len(why) == 0 {
		reasons = append(reasons, unpulled(cell, nodes, images)...)
	}
	if len(reasons) > 0 {
		return Fit{Reasons: reasons}
	}
	return Fit{Nodes: nodes}
}

// Itself are the reasons for which a cell can run on no existing cluster.
func Itself(cell plan.Cell) []string {
	reasons := topology(cell.Topology)
	reasons = append(reasons, steps(cell)...)
	reasons = append(reasons, readings(cell)...)
	return append(reasons, namespaces(cell)...)
}
