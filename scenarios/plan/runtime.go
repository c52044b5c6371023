package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/cellid"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// runtimeOf is what a topology has for a container runtime: nothing for skewrig's own.
func runtimeOf(written string) string {
	if written == record.Simulated {
		return ""
	}
	return written
}

// OnRuntime returns cells whose nodes all have a container runtime, whatever their scenarios say.
func OnRuntime(cells []Cell, runtime string) []Cell {
	on := slices.Clone(cells)
	for i := range on {
		nodes := slices.Clone(on[i].Topology.Nodes)
		for at := range nodes {
			nodes[at].Runtime = runtimeOf(runtime)
		}
		on[i].Topology.Nodes = nodes
	}
	return on
}

// OnBoth returns each cell that has nodes twice: on simulated nodes, and on those with real containers, which is
// compared with the former. differences are those that must be. A cell that is compared with another one already
// is compared with that on the same nodes instead.
func OnBoth(cells []Cell, differences []spec.Explained) (all []Cell) {
	for _, c := range cells {
		if len(c.Topology.Nodes) == 0 {
			all = append(all, c)
			continue
		}
		simulated := c.on(record.Simulated)
		with := c.on(record.Containerd)
		if c.Compare == nil {
			with.With = simulated.ID
			with.Compare = &spec.Compare{ID: "as-simulated", With: map[string]string{cellid.Runtime: record.Simulated}, Explained: differences, Shared: true}
		}
		all = append(all, simulated, with)
	}
	return all
}

// on is a cell on nodes with a container runtime, as a cell of its own.
func (c Cell) on(runtime string) Cell {
	suffix := "/" + cellid.Runtime + ":" + runtime
	c = OnRuntime([]Cell{c}, runtime)[0]
	c.ID += suffix
	c.Cells *= 2
	c.Axes = maps.Clone(c.Axes)
	if c.Axes == nil {
		c.Axes = make(map[string]string)
	}
	c.Axes[cellid.Runtime] = runtime
	if c.With != "" {
		c.With += suffix
	}
	return c
}

// HasContainers reports whether a cell has nodes with real containers.
func HasContainers(cell Cell) bool {
	return slices.ContainsFunc(cell.Topology.Nodes, func(n record.Node) bool { return n.Runtime != "" })
}

// impossible is what a scenario may ask for and a node with real containers can't do.
var impossible = []struct {
	asked func(Cell, record.Node) bool
	why   string
}{
	{
		func(_ Cell, n record.Node) bool { return n.OwnClock },
		"its kubelet is the release's own, whose clock can't be set",
	},
	{
		func(_ Cell, n record.Node) bool { return len(n.RuntimeHandlers.Names) > 0 },
		"it has the runtime handlers that containerd is configured with, and no others",
	},
	{
		func(_ Cell, n record.Node) bool { return n.Endpoints },
		"its pods report the addresses that they have, which EndpointSlices take anyway",
	},
	{
		func(c Cell, _ record.Node) bool { return slices.ContainsFunc(c.pods(), usesHostNetwork) },
		"a pod asks for hostNetwork, with which a real server listens on this machine's own addresses, where others reach it",
	},
	{
		func(c Cell, n record.Node) bool {
			return slices.ContainsFunc(c.Steps, func(s Step) bool { return answersRuntimeConfig(s, n.Name) })
		},
		"a step answers the method RuntimeConfig, of which the scenario has to know whether the runtime has it: containerd has it from 2.0 on",
	},
}

// answersRuntimeConfig reports whether a step has calls of the method from a node's kubelet late or fail.
func answersRuntimeConfig(s Step, node string) bool {
	facts := s.Action.Facts()
	return facts.Needs == action.NeedsRuntimeConfig && facts.Component == spec.KubeletPrefix+node
}

// Untestable says why a cell can't run: what it asks of nodes with real containers that they can't
// do, for each such node. There is nothing to say of a cell that can.
func Untestable(cell Cell) string {
	var all []string
	for _, n := range cell.Topology.Nodes {
		for _, i := range impossible {
			if n.Runtime != "" && i.asked(cell, n) {
				all = append(all, fmt.Sprintf("node %s has %s: %s", n.Name, n.Runtime, i.why))
			}
		}
	}
	return strings.Join(all, "; ")
}

// pods are the objects of a cell that are pods or have templates of some.
func (c Cell) pods() (all []map[string]any) {
	for _, step := range c.Steps {
		facts := step.Action.Facts()
		all = append(all, facts.Creates...)
		if facts.Static.Pod != nil {
			all = append(all, facts.Static.Pod)
		}
	}
	return all
}

// usesHostNetwork reports whether an object has a pod of it use the node's network.
func usesHostNetwork(object map[string]any) bool {
	for key, value := range object {
		if inner, is := value.(map[string]any); is && usesHostNetwork(inner) || key == "hostNetwork" && value == true {
			return true
		}
	}
	return false
}

// Commands are what containers of a cell run instead of what their images say, each by the first
// word of its command line, sorted.
func (c Cell) Commands() (all []string) {
	for _, object := range c.pods() {
		all = append(all, commands(object)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// commands are those of the containers in an object.
func commands(object any) (all []string) {
	switch of := object.(type) {
	case map[string]any:
		_, container := of["image"]
		if words, is := of["command"].([]any); is && container && len(words) > 0 {
			if word, is := words[0].(string); is {
				all = append(all, word)
			}
		}
		for _, value := range of {
			all = append(all, commands(value)...)
		}
	case []any:
		for _, one := range of {
			all = append(all, commands(one)...)
		}
	}
	return all
}
