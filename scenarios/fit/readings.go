package fit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// recorded are the variables of expressions that an API server has all of.
var recorded = []string{"events", "history", "nodes", "objects", "pods", "requests"}

// rigOnly is what only a rig records, by the variable. What steps give is not among them: if it
// can't be had, their steps can't be taken.
var rigOnly = map[string]string{
	"calls":       "requests that pass a link",
	"components":  "processes of components",
	"connections": "what servers in containers see on the wire",
	"dependents":  "what is on a seed",
	"leases":      "leases of simulated nodes",
}

// ofSteps are the variables that steps give which only a rig can take.
var ofSteps = []string{"conversions", "kubectl", "logs", "metrics", "podsAPI", "polls", "scrapes", "sockets", "stored", "watches", "webhooks"}

// ofRuntime are the fields of containers, and of their exits, that no status of a pod has.
var ofRuntime = []string{"execs", "processes", "signal"}

// readings are the reasons that are in what the expressions of a cell read.
func (u Use) readings(cell plan.Cell) (reasons []string) {
	by := make(map[string][]string)
	add := func(r expr.Reading, format string, args ...any) {
		reason := fmt.Sprintf(format, args...)
		if by[reason] == nil {
			reasons = append(reasons, reason)
		}
		if !slices.Contains(by[reason], r.What) {
			by[reason] = append(by[reason], r.What)
		}
	}
	own := Namespaces(cell)
	for _, r := range expr.Readings(cell) {
		for _, v := range r.Variables {
			if what := rigOnly[v]; what != "" && !u.records(v) {
				add(r, "only a rig records %s (%s)", what, v)
			}
		}
		for _, field := range ofRuntime {
			if !u.Containers && slices.Contains(r.Variables, "containers") && slices.Contains(r.Fields, field) {
				add(r, "the status of a pod does not have %s of containers", field)
			}
		}
		if !u.Components && slices.Contains(r.Variables, "nodes") && slices.Contains(r.Fields, "events") {
			add(r, "events about nodes are not in a namespace of the cell")
		}
		u.processes(cell.Topology, r, add)
		for _, key := range r.Keys {
			if why := u.outside(key, own); why != "" {
				add(r, "%s", why)
			}
		}
	}
	for i, reason := range reasons {
		reasons[i] = reason + ": " + strings.Join(by[reason], ", ")
	}
	for _, resource := range cell.Topology.Observed {
		if kube.ClusterScoped(resource) || strings.Contains(resource, "/") {
			reasons = append(reasons, "it reads objects that are in no namespace: "+resource)
		}
	}
	return reasons
}

// records reports whether what a variable has is in the record of a cluster that may be used so.
func (u Use) records(variable string) bool {
	return u.Containers && variable == "connections" || u.Components && variable == "components"
}

// ofProcess are the fields of components that only a rig knows.
var ofProcess = []string{"digest", "pid"}

// processes are the reasons that are in what an expression reads of components.
func (u Use) processes(t record.Topology, r expr.Reading, add func(r expr.Reading, format string, args ...any)) {
	if !u.Components || !slices.Contains(r.Variables, "components") {
		return
	}
	for _, field := range ofProcess {
		if slices.Contains(r.Fields, field) {
			add(r, "only a rig knows the %s of components", field)
		}
	}
	for _, name := range slices.Concat(r.Components, t.MayEnd) {
		if !isWatched(name) {
			add(r, "only a rig records the processes of %s", name)
		}
	}
}

// outside is why objects of a key, or of the beginning of one, can't be read; empty if they can.
func (u Use) outside(key string, own []string) string {
	resource, rest, whole := strings.Cut(key, "/")
	namespace, _, _ := strings.Cut(rest, "/")
	switch {
	case resource == "nodes" && u.Components:
		return ""
	case resource == "nodes":
		return "what is recorded of nodes is not the whole object: nodes[...] has what is"
	case whole && namespace != "" && !kube.ClusterScoped(resource) && !slices.Contains(own, namespace):
		return fmt.Sprintf("it reads objects of namespace %s, in which it has none", namespace)
	default:
		return ""
	}
}

// ReadsContainers reports whether a cell reads what happened to containers.
func ReadsContainers(cell plan.Cell) bool {
	return slices.ContainsFunc(expr.Readings(cell), func(r expr.Reading) bool { return slices.Contains(r.Variables, "containers") })
}

// Observed are the resources whose objects go into the record of a cell, but for nodes.
func Observed(cell plan.Cell) []string {
	all := slices.Concat(record.Observed, cell.Topology.Observed)
	return slices.DeleteFunc(all, func(resource string) bool { return resource == "nodes" })
}
