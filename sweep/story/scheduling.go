package story

import (
	"fmt"
	"maps"
	"slices"
)

// selectors are constraints of the scheduler with each operator, and each kind of selector, beside pods that they select.
func selectors() (all []Story) {
	// A pod of each namespace runs before; its label is that which the constraints name.
	there := func(name, labels string) map[string]any {
		return object("{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {%s}}, spec: %s}", name, labels, podSpec)
	}
	constrained := func(name, labels, constraint string) map[string]any {
		return with(there(name, labels), "{spec: %s}", constraint)
	}
	terms := map[string]string{
		"in": "{matchExpressions: [{key: app, operator: In, values: [web]}]}", "not-in": "{matchExpressions: [{key: app, operator: NotIn, values: [web]}]}",
		"exists": "{matchExpressions: [{key: app, operator: Exists}]}", "does-not-exist": "{matchExpressions: [{key: app, operator: DoesNotExist}]}",
		"all": "{}", "labels": "{matchLabels: {app: web}}",
	}
	other := here + "-other"
	namespace := func(name, labels string) map[string]any {
		return object("{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {%s}}}", name, labels)
	}
	elsewhere := func(o map[string]any) map[string]any { return with(o, "{metadata: {namespace: %s}}", other) }
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		for _, term := range slices.Sorted(maps.Keys(terms)) {
			constraint := fmt.Sprintf("{affinity: {%s: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: %s}]}}}", kind, terms[term])
			all = append(all, Story{
				Name: fmt.Sprintf("%s-%s", lower(kind), term), Objects: []map[string]any{there("there", "app: web")},
				Acts: []Act{act("constrained pods made", create(constrained("one", "app: web", constraint), constrained("two", "tier: back", constraint), constrained("three", "app: api", constraint)))},
			})
			if term == "labels" {
				continue
			}
			namespaces := fmt.Sprintf("{affinity: {%s: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}, namespaceSelector: %s}]}}}", kind, terms[term])
			all = append(all, Story{
				Name:    fmt.Sprintf("%s-namespaces-%s", lower(kind), term),
				Objects: []map[string]any{namespace(other, "app: web"), there("there", "app: web"), elsewhere(there("elsewhere", "app: web"))},
				Acts: []Act{act("constrained pods made", create(constrained("one", "app: api", namespaces)), create(elsewhere(constrained("two", "app: api", namespaces))),
					create(constrained("three", "app: api", namespaces)))},
			})
		}
	}
	spreads := map[string]string{
		"absent": "", "all": "labelSelector: {}, ", "labels": "labelSelector: {matchLabels: {app: web}}, ",
		"not-in": "labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [api]}]}, ", "exists": "labelSelector: {matchExpressions: [{key: app, operator: Exists}]}, ",
	}
	// The pods had rather be on one node, so that only the constraint spreads them.
	for _, spread := range slices.Sorted(maps.Keys(spreads)) {
		deployment := with(workloads()[0].o, "{spec: {replicas: 4, template: {spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-a]}]}}]}}, topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, %smaxSkew: 1}]}}}}", spreads[spread])
		all = append(all, Story{Name: "spread-" + spread, Objects: []map[string]any{deployment}, Acts: []Act{act("scaled to 6", patch(ref(deployment), "{spec: {replicas: 6}}"))}})
	}
	nodes := map[string]string{
		"in": "{key: kubernetes.io/hostname, operator: In, values: [node-a]}", "not-in": "{key: kubernetes.io/hostname, operator: NotIn, values: [node-a]}",
		"exists": "{key: kubernetes.io/hostname, operator: Exists}", "does-not-exist": "{key: example.com/none, operator: DoesNotExist}",
		"greater": "{key: example.com/size, operator: Gt, values: [\"3\"]}",
	}
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		constraint := fmt.Sprintf("{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [%s]}]}}}}", nodes[node])
		all = append(all, Story{Name: "node-affinity-" + node, Objects: []map[string]any{constrained("one", "app: web", constraint), constrained("two", "app: web", constraint)}})
	}
	return append(all, waiting()...)
}

// waiting are pods that can't be scheduled, until they can.
func waiting() (all []Story) {
	pod := func(spec string) map[string]any {
		return with(object("{apiVersion: v1, kind: Pod, metadata: {name: late}, spec: %s}", podSpec), "{spec: %s}", spec)
	}
	gated := pod("{schedulingGates: [{name: example.com/wait}]}")
	huge := with(workloads()[0].o, "{spec: {replicas: 2, template: {spec: {nodeSelector: {example.com/late: \"yes\"}}}}}")
	claimed := with(pod("{}"), `{spec: {volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}}`)
	claim := object("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: \"\", volumeName: %s, resources: {requests: {storage: 1Gi}}}}", here)
	volume := object("{apiVersion: v1, kind: PersistentVolume, metadata: {name: %s}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /tmp/%s}}}", here, here)
	return append(all,
		Story{Name: "waits-for-gate", Objects: []map[string]any{gated}, Acts: []Act{act("scheduling gate removed", patch(ref(gated), "{spec: {schedulingGates: []}}"))}},
		Story{Name: "waits-for-label", Alone: true, Objects: []map[string]any{huge}, Acts: []Act{
			act("node-b labeled", patch("nodes/node-b", `{metadata: {labels: {example.com/late: "yes"}}}`)),
		}},
		Story{Name: "waits-for-volume", Objects: []map[string]any{claimed}, Acts: []Act{act("claim and volume made", create(claim), create(volume))}},
		Story{Name: "waits-and-is-remade", Objects: []map[string]any{huge}, Acts: []Act{
			act("deleted and made again", remove(ref(huge), "Background"), create(huge)),
			act("constraint removed", patch(ref(huge), "{spec: {template: {spec: {nodeSelector: null}}}}")),
		}},
		Story{Name: "preempts", Alone: true, Objects: append(objects("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}"),
			with(workloads()[0].o, "{metadata: {name: low}, spec: {replicas: 6, template: {spec: {containers: [{name: app, image: \"registry.k8s.io/pause:3.10\", resources: {requests: {cpu: \"1\"}}}]}}}}")),
			Acts: []Act{act("a Deployment of a higher priority made", create(with(workloads()[0].o,
				"{metadata: {name: high}, spec: {replicas: 3, template: {spec: {priorityClassName: high, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\", resources: {requests: {cpu: \"2\"}}}]}}}}")))}},
	)
}
