package conformance

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// noise is what a cell does in one round. Rounds differ by their numbers only.
type noise func(round int) []action.Action

// noises are by the values of the axes of noise-own.yaml.
var noises = map[string]map[string]noise{
	"objects": {"true": workloads, "false": pods},
	"nodes":   {"true": restarts, "false": kills},
}

// noiseOf is what a cell of noise-own.yaml does, round by round.
func noiseOf(cell plan.Cell) noise { return noises[cell.Axes["noise"]][cell.Axes["controllers"]] }

// many is how many objects of a kind a round makes.
const many = 10

// pods are as many in a round, of which each crashes, and large ConfigMaps. Those of the
// round before are deleted.
func pods(round int) (all []action.Action) {
	for i := range many {
		pod := object("v1", "Pod", numbered("noisy", round, i))
		pod["spec"] = map[string]any{
			"nodeName": "node-a", "priorityClassName": "system-node-critical", "terminationGracePeriodSeconds": int64(0),
			"containers": []any{
				map[string]any{"name": "crashes", "image": "registry.k8s.io/e2e-test-images/agnhost:2.66.1", "command": []any{"sh", "-c", "exit 1"}},
				map[string]any{"name": "missing", "image": "registry.invalid/noisy"},
			},
		}
		all = append(all, action.Apply{Objects: []map[string]any{pod}})
	}
	all = append(all, configMaps(round)...)
	all = append(all, action.Get{Component: kubelet, Path: "/pods"})
	for i := range many {
		all = append(all, deleted(round, "pods", numbered("noisy", round-1, i))...)
	}
	return all
}

// workloads are scaled up and down, one of them to pods that fit nowhere.
func workloads(round int) []action.Action {
	up, down := int64(20*many), int64(0)
	if round%2 == 1 {
		up, down = down, int64(many)
	}
	scale := func(name string, replicas int64) action.Action {
		return merge("deployments", name, map[string]any{"spec": map[string]any{"replicas": replicas}})
	}
	return append([]action.Action{scale("noisy-pending", up), scale("noisy-running", down)}, configMaps(round)...)
}

// configMaps are as many in a round, in two namespaces. Each is changed, and deleted in the
// next round.
func configMaps(round int) (all []action.Action) {
	for i := range many {
		name := numbered("noisy", round, i)
		large := object("v1", "ConfigMap", name)
		large["data"] = map[string]any{"noise": strings.Repeat("noisy ", 20_000)}
		elsewhere := object("v1", "ConfigMap", name)
		elsewhere["metadata"].(map[string]any)["namespace"] = "noisy"
		all = append(all, action.Apply{Objects: []map[string]any{large, elsewhere}},
			merge("configmaps", name, map[string]any{"data": map[string]any{"round": fmt.Sprint(round)}}))
		all = append(all, deleted(round, "configmaps", numbered("noisy", round-1, i))...)
	}
	return all
}

// restarts change the node, and restart its kubelet with another gate.
func restarts(round int) []action.Action {
	again := action.Restart{Component: kubelet, Gates: map[string]bool{"PodsAPI": round%2 == 0}}
	return append(changes(round), again)
}

// kills change the node, also in what a controller manager would notice, and kill its
// kubelet.
func kills(round int) []action.Action {
	condition := map[string]any{"type": "Noisy", "status": "True", "reason": "Noise", "message": numbered("noisy", round)}
	return append(changes(round),
		node(map[string]any{"metadata": map[string]any{"labels": map[string]any{"topology.kubernetes.io/zone": numbered("noisy", round)}}}),
		node(map[string]any{"status": map[string]any{"conditions": []any{condition}}}),
		action.Kill(kubelet), action.Restart{Component: kubelet, Stopped: true})
}

const kubelet = spec.KubeletPrefix + "node-a"

// changes are a label and a taint of the node.
func changes(round int) []action.Action {
	value := numbered("noisy", round)
	taint := map[string]any{"key": "noisy", "value": value, "effect": []string{"NoExecute", "NoSchedule"}[round%2]}
	return []action.Action{
		node(map[string]any{"metadata": map[string]any{"labels": map[string]any{"noisy": value}}}),
		node(map[string]any{"spec": map[string]any{"taints": []any{taint}, "unschedulable": round%2 == 0}}),
	}
}

func node(part map[string]any) action.Action {
	return action.Patch{Object: spec.ObjectRef{Resource: "nodes", Name: "node-a"}, Merge: part}
}

func object(version, kind, name string) map[string]any {
	return map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name}}
}

func numbered(name string, numbers ...int) string {
	for _, n := range numbers {
		name += fmt.Sprint("-", n)
	}
	return name
}

func merge(resource, name string, part map[string]any) action.Action {
	return action.Patch{Object: spec.ObjectRef{Resource: resource, Namespace: "default", Name: name}, Merge: part}
}

// deleted deletes an object of the round before, if there was one.
func deleted(round int, resource, name string) []action.Action {
	if round == 0 {
		return nil
	}
	return []action.Action{action.Delete{Object: spec.ObjectRef{Resource: resource, Namespace: "default", Name: name}}}
}
