package engine

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

// group is cells that have one control plane, by their places in the list of all.
type group struct {
	key string // what they agree on; empty if nothing else uses their control plane
	// beside are those that use it at the same time, alone those that come after them, one
	// after the other, and walk those that come last and change it, in step.
	beside, alone, walk []int
}

// all are the places of all cells of the group.
func (g group) all() []int { return slices.Concat(g.beside, g.alone, g.walk) }

// groups are the groups of cells in the order in which they are begun. The longest comes
// first: if it began last, only the user would wait for it. At most so many cells walk in
// step.
func groups(cells []plan.Cell, most int) []group {
	var all []group
	of := make(map[string]int) // the group of those that share a control plane
	var changing []int
	for i, cell := range cells {
		key, reach := shares(cell)
		switch reach {
		case action.ReachChanges:
			changing = append(changing, i)
			continue
		case action.ReachAll:
			all = append(all, group{alone: []int{i}})
			continue
		}
		g, known := of[key]
		if !known {
			g = len(all)
			of[key] = g
			all = append(all, group{key: key})
		}
		if reach == action.ReachOwn {
			all[g].beside = append(all[g].beside, i)
		} else {
			all[g].alone = append(all[g].alone, i)
		}
	}
	for _, w := range walks(cells, changing, most) {
		// One walk can be the last to have a control plane, unless many have it before.
		if g, known := of[w.key]; known && len(all[g].beside) <= most {
			all[g].walk = w.walk
			delete(of, w.key)
			continue
		}
		all = append(all, w)
	}
	if most > 1 {
		all = spread(cells, all)
	}
	for _, g := range all {
		slices.SortStableFunc(g.beside, func(a, b int) int { return cmp.Compare(length(cells[b]), length(cells[a])) })
	}
	slices.SortStableFunc(all, func(a, b group) int { return cmp.Compare(groupLength(cells, b, most), groupLength(cells, a, most)) })
	return all
}

// aloneLimit is about how long cells of a group are alone on one control plane, one after the
// other. To start another one takes less than to wait longer.
const aloneLimit = 30 * time.Second

// spread leaves each group the cells that can be alone within aloneLimit, and makes further
// groups of the rest.
func spread(cells []plan.Cell, all []group) (within []group) {
	for _, g := range all {
		rest := g.alone
		g.alone = nil
		for _, i := range rest {
			if len(g.alone) > 0 && sum(cells, g.alone)+length(cells[i]) > aloneLimit {
				within = append(within, g)
				g = group{}
			}
			g.alone = append(g.alone, i)
		}
		within = append(within, g)
	}
	return within
}

// shuffle has groups, and the cells of each that come at the same time or one after the other,
// in another order.
func shuffle(all []group, random *rand.Rand) {
	swap := func(of []int) {
		random.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	}
	for _, g := range all {
		swap(g.beside)
		swap(g.alone)
		swap(g.walk)
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}

// groupLength is about how long a group takes of which so many cells run beside each other, to
// compare it with others.
func groupLength(cells []plan.Cell, g group, most int) time.Duration {
	return max(longest(cells, g.beside), sum(cells, g.beside)/time.Duration(most)) + sum(cells, g.alone) + longest(cells, g.walk)
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
	if slices.ContainsFunc(t.Links, func(l record.Link) bool { return !ofKubelet(l.From) }) {
		return "", action.ReachAll
	}
	if !all(t.MayEnd, ofKubelet) {
		reach = action.ReachShared
	}
	for _, step := range cell.Steps {
		reach = max(reach, action.ReachOf(step.Action))
		if t.ControllerManager && countsNodes(step.Action, t.Scheduler) {
			reach = max(reach, action.ReachShared)
		}
		if t.Scheduler && readsStored(step.Action) {
			return "", action.ReachAll // what etcd has of an object shows how it is kept to its nodes
		}
	}
	text, err := json.Marshal(ofControlPlane(t))
	if err != nil {
		return "", action.ReachAll
	}
	return string(text), reach
}

func readsStored(a action.Action) bool {
	switch a.(type) {
	case action.Stored, action.Store:
		return true
	default:
		return false
	}
}

// countsNodes reports whether what the controller manager makes of an action depends on how
// many nodes there are: of nodes that become Unknown or are said to be not ready, of their
// zones, and of a DaemonSet where no scheduler keeps pods to the cell's nodes.
func countsNodes(a action.Action, scheduler bool) bool {
	switch a.(type) {
	case action.Stop, action.Kill, action.Fault, action.Clock:
		return true
	}
	if of, merge, is := action.Merged(a); is {
		return of.Resource == "nodes" && (merge["status"] != nil || movesNode(merge))
	}
	return !scheduler && slices.ContainsFunc(action.Created(a), func(o map[string]any) bool { return o["kind"] == "DaemonSet" })
}

// movesNode reports whether a patch changes the zone or the region of a node.
func movesNode(merge map[string]any) bool {
	metadata, _ := merge["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	_, zone := labels[corev1.LabelTopologyZone]
	_, region := labels[corev1.LabelTopologyRegion]
	return zone || region
}

// ofControlPlane is what of a topology is the control plane.
func ofControlPlane(t record.Topology) record.Topology {
	t.Nodes, t.Links, t.Inspected, t.Observed, t.MayEnd = nil, nil, nil, nil, nil
	return t
}

func ofKubelet(component string) bool { return strings.HasPrefix(component, spec.KubeletPrefix) }

func all[T any](of []T, are func(T) bool) bool {
	return !slices.ContainsFunc(of, func(one T) bool { return !are(one) })
}

// length is about how long a cell takes, to compare it with others: what starts, and the times
// for which something is watched whatever happens.
func length(cell plan.Cell) time.Duration {
	const start, node, event = 4 * time.Second, time.Second / 4, 3 * time.Second
	all := start + time.Duration(len(cell.Topology.Nodes))*node
	for _, step := range cell.Steps {
		switch act := step.Action.(type) {
		case action.Restart, action.Reboot:
			all += start
		case action.Roll:
			all += time.Duration(len(act.Restarts)) * start / 2
		case action.Wait:
			all += max(event, time.Duration(act.For))
		case action.Checks:
			watched := event
			for _, c := range act.Checks {
				if !c.Mode.Awaits() {
					watched = max(watched, time.Duration(c.Span))
				}
			}
			all += watched
		}
	}
	return all
}
