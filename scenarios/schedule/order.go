// Package schedule decides which cells share a control plane, in which order cells begin, and which shard runs which of
// them. It takes plans, and does no I/O.
package schedule

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Group is a group of cells with one control plane, by their indexes in the list of all cells.
type Group struct {
	// Key is the topology that they agree on, as text. It is empty if nothing else uses their control plane.
	Key string
	// Beside use the control plane at the same time, Alone after them, one after the other, and InStep come last and change
	// it, all of them at once.
	Beside, Alone, InStep []int
}

// All returns the indexes of all cells of the group.
func (g Group) All() []int { return slices.Concat(g.Beside, g.Alone, g.InStep) }

// Groups returns the groups of cells in the order in which they begin. The longest comes first: if it began last, only
// the user would wait for it. At most so many cells change a control plane in step.
func Groups(cells []plan.Cell, most int) []Group {
	var all []Group
	of := make(map[string]int) // the group of those that share a control plane
	var changing []int
	for i, cell := range cells {
		key, reach := shares(cell)
		switch reach {
		case action.ReachChanges:
			changing = append(changing, i)
			continue
		case action.ReachAll:
			all = append(all, Group{Alone: []int{i}})
			continue
		}
		g, known := of[key]
		if !known {
			g = len(all)
			of[key] = g
			all = append(all, Group{Key: key})
		}
		if reach == action.ReachOwn {
			all[g].Beside = append(all[g].Beside, i)
		} else {
			all[g].Alone = append(all[g].Alone, i)
		}
	}
	for _, last := range lockstep(cells, changing, most) {
		// One lockstep group can be the last on a control plane, unless many cells use it before.
		if g, known := of[last.Key]; known && len(all[g].Beside) <= most {
			all[g].InStep = last.InStep
			delete(of, last.Key)
			continue
		}
		all = append(all, last)
	}
	if most > 1 {
		all = spread(cells, all)
	}
	for _, g := range all {
		slices.SortStableFunc(g.Beside, func(a, b int) int { return cmp.Compare(length(cells[b]), length(cells[a])) })
	}
	slices.SortStableFunc(all, func(a, b Group) int { return cmp.Compare(groupLength(cells, b, most), groupLength(cells, a, most)) })
	return all
}

// aloneLimit is about how long cells of a group are alone on one control plane, one after the
// other. To start another one takes less than to wait longer.
const aloneLimit = 30 * time.Second

// spread leaves each group the cells that can be alone within aloneLimit, and makes further
// groups of the rest.
func spread(cells []plan.Cell, all []Group) (within []Group) {
	for _, g := range all {
		rest := g.Alone
		g.Alone = nil
		for _, i := range rest {
			if len(g.Alone) > 0 && sum(cells, g.Alone)+length(cells[i]) > aloneLimit {
				within = append(within, g)
				g = Group{}
			}
			g.Alone = append(g.Alone, i)
		}
		within = append(within, g)
	}
	return within
}

// Shuffle changes the order of groups, and that of the cells of each which come at the same time or one after the other.
func Shuffle(all []Group, random *rand.Rand) {
	swap := func(of []int) {
		random.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	}
	for _, g := range all {
		swap(g.Beside)
		swap(g.Alone)
		swap(g.InStep)
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}

// groupLength is about how long a group takes of which so many cells run beside each other, to
// compare it with others.
func groupLength(cells []plan.Cell, g Group, most int) time.Duration {
	return max(longest(cells, g.Beside), sum(cells, g.Beside)/time.Duration(most)) + sum(cells, g.Alone) + longest(cells, g.InStep)
}

func longest(cells []plan.Cell, places []int) (most time.Duration) {
	for _, i := range places {
		most = max(most, length(cells[i]))
	}
	return most
}

func sum(cells []plan.Cell, places []int) (all time.Duration) {
	for _, i := range places {
		all += length(cells[i])
	}
	return all
}

// shares says which control plane a cell can share with others, and how far it reaches
// there. With ReachAll it can't.
func shares(cell plan.Cell) (key string, reach action.Reach) {
	t := cell.Topology
	if t.LeaseNodes != nil || t.Garden != nil {
		return "", action.ReachAll // thousands of nodes, and clients of two control planes
	}
	if slices.ContainsFunc(t.Links, func(l record.Link) bool { return !isKubelet(l.From) }) {
		return "", action.ReachAll
	}
	if slices.ContainsFunc(t.MayEnd, func(component string) bool { return !isKubelet(component) }) {
		reach = action.ReachShared
	}
	for _, step := range cell.Steps {
		facts := step.Action.Facts()
		reach = max(reach, action.ReachOf(step.Action))
		if t.ControllerManager && countsNodes(facts, t.Scheduler) {
			reach = max(reach, action.ReachShared)
		}
		if t.Scheduler && facts.Needs == action.NeedsEtcd {
			return "", action.ReachAll // what etcd has of an object shows how it is kept to its nodes
		}
	}
	text, err := json.Marshal(controlPlaneOf(t))
	if err != nil {
		return "", action.ReachAll
	}
	return string(text), reach
}

// countsNodes reports whether what the controller manager makes of an action depends on how
// many nodes there are: of nodes that become Unknown or are said to be not ready, of their
// zones, and of a DaemonSet where no scheduler keeps pods to the cell's nodes.
func countsNodes(facts action.Facts, scheduler bool) bool {
	if facts.Silences {
		return true
	}
	if of, merge, is := facts.Merge(); is {
		return of.Resource == "nodes" && (merge["status"] != nil || movesNode(merge))
	}
	return !scheduler && slices.ContainsFunc(facts.Creates, func(o map[string]any) bool { return o["kind"] == "DaemonSet" })
}

// movesNode reports whether a patch changes the zone or the region of a node.
func movesNode(merge map[string]any) bool {
	metadata, _ := merge["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	_, zone := labels[corev1.LabelTopologyZone]
	_, region := labels[corev1.LabelTopologyRegion]
	return zone || region
}

// Shared returns the topology that cells share: the control plane of any of them, and all resources that they observe there.
func Shared(cells []plan.Cell) record.Topology {
	t := controlPlaneOf(cells[0].Topology)
	for _, cell := range cells {
		t.Observed = append(t.Observed, Observed(cell.Topology)...)
	}
	slices.Sort(t.Observed)
	t.Observed = slices.Compact(t.Observed)
	return t
}

// Observed returns the resources that the record of a cell has beside those of every record.
func Observed(t record.Topology) []string {
	observed := slices.Clone(t.Observed)
	if slices.ContainsFunc(t.Nodes, func(n record.Node) bool { return n.OwnClock }) {
		observed = append(observed, "leases")
	}
	return observed
}

// controlPlaneOf returns the part of a topology that is the control plane.
func controlPlaneOf(t record.Topology) record.Topology {
	t.Nodes, t.Links, t.Inspected, t.Observed, t.MayEnd = nil, nil, nil, nil, nil
	return t
}

func isKubelet(component string) bool { return strings.HasPrefix(component, spec.KubeletPrefix) }

// length is about how long a cell takes, to compare it with others: what starts, and the times
// for which something is watched whatever happens.
func length(cell plan.Cell) time.Duration {
	const start, node = 4 * time.Second, time.Second / 4
	all := start + time.Duration(len(cell.Topology.Nodes))*node
	for _, step := range cell.Steps {
		all += step.Action.Facts().Estimate
	}
	return all
}
