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
	// The pods prefer one node, and each other, so that only the constraint spreads them.
	for _, spread := range slices.Sorted(maps.Keys(spreads)) {
		deployment := with(workloads()[0].o, "{spec: {replicas: 4, template: {spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-a]}]}}]}, podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}}]}}, topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, %smaxSkew: 1}]}}}}", spreads[spread])
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
	return slices.Concat(all, waiting(), freed())
}

// waiting are pods that can't be scheduled, until they can.
func waiting() (all []Story) {
	pod := func(spec string) map[string]any {
		return with(object("{apiVersion: v1, kind: Pod, metadata: {name: late}, spec: %s}", podSpec), "{spec: %s}", spec)
	}
	gated := pod("{schedulingGates: [{name: example.com/wait}]}")
	huge := with(workloads()[0].o, "{spec: {replicas: 2, template: {spec: {nodeSelector: {example.com/late: \"yes\"}}}}}")
	claimed := with(pod("{}"), mountsClaim)
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
			with(workloads()[0].o, "{metadata: {name: low}, spec: {replicas: 4, template: {spec: {containers: [{name: app, image: \"registry.k8s.io/pause:3.10\", resources: {requests: {cpu: 400m}}}]}}}}")),
			Acts: []Act{act("a Deployment of a higher priority made", create(with(workloads()[0].o,
				"{metadata: {name: high}, spec: {replicas: 2, template: {spec: {priorityClassName: high, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\", resources: {requests: {cpu: 600m}}}]}}}}")))}},
	)
}

// freed are pods that no node takes, until something else goes, comes or changes.
func freed() (all []Story) {
	pod := func(name, labels, spec string) map[string]any {
		return with(object("{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {%s}}, spec: %s}", name, labels, podSpec), "{spec: %s}", spec)
	}
	const onA, large = "nodeSelector: {kubernetes.io/hostname: node-a}", `containers: [{name: app, image: "registry.k8s.io/pause:3.10", resources: {requests: {%s}}}]`
	add := func(name string, alone bool, objects []map[string]any, acts ...Act) {
		all = append(all, Story{Name: "waits-until-" + name, Alone: alone, Objects: objects, Acts: acts})
	}
	first := "pods/" + here + "/first"
	gone, relabeled := act("the other pod deleted", remove(first, "")), act("the other pod relabeled", patch(first, "{metadata: {labels: {app: other}}}"))
	term := "requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]"
	apart := "affinity: {podAntiAffinity: {" + term + "}}, " + onA
	beside := "affinity: {podAffinity: {" + term + "}}"
	for name, how := range map[string]Act{"gone": gone, "relabeled": relabeled} {
		add("the-other-is-"+name, false, []map[string]any{pod("first", "app: web", "{"+onA+"}"), pod("late", "tier: back", "{"+apart+"}")}, how)
		add("the-other-which-keeps-apart-is-"+name, false, []map[string]any{pod("first", "app: web", "{"+apart+"}"), pod("late", "app: web", "{"+onA+"}")}, how)
	}
	add("one-to-be-with-comes", false, []map[string]any{pod("late", "tier: back", "{"+beside+"}")}, act("a pod made", create(pod("first", "app: web", "{}"))))
	add("one-to-be-with-is-labeled", false, []map[string]any{pod("first", "app: other", "{}"), pod("late", "tier: back", "{"+beside+"}")}, act("labeled", patch(first, "{metadata: {labels: {app: web}}}")))
	port := `{` + onA + `, containers: [{name: app, image: "registry.k8s.io/pause:3.10", ports: [{containerPort: 80, hostPort: %d}]}]}`
	add("a-host-port-is-free", false, []map[string]any{pod("first", "app: web", fmt.Sprintf(port, 18080)), pod("late", "app: web", fmt.Sprintf(port, 18080))}, gone)
	for name, most := range map[string]string{"cpu": "cpu: 600m", "memory": "memory: 2Gi", "storage": "ephemeral-storage: 60Gi"} {
		full := "{" + onA + ", " + fmt.Sprintf(large, most) + "}"
		add(name+"-is-free", true, []map[string]any{pod("first", "app: web", full), pod("late", "app: web", full)}, gone)
	}
	full := "{" + onA + ", " + fmt.Sprintf(large, "cpu: 600m") + "}"
	add("a-resize-frees-cpu", true, []map[string]any{pod("first", "app: web", full), pod("late", "app: web", full)}, act("the other pod resized", resize(first, "{spec: {containers: [{name: app, resources: {requests: {cpu: 100m}}}]}}")))
	add("a-node-lets-it-in", true, []map[string]any{pod("first", "app: web", "{"+onA+"}")}, act("node-a cordoned", patch("nodes/node-a", "{spec: {unschedulable: true}}")),
		act("a pod made", create(pod("late", "app: web", "{"+onA+"}"))), act("node-a uncordoned", patch("nodes/node-a", "{spec: {unschedulable: null}}")))
	add("a-taint-is-gone", true, []map[string]any{pod("first", "app: web", "{"+onA+"}")}, act("node-a tainted", patch("nodes/node-a", "{spec: {taints: [{key: example.com/own, effect: NoSchedule}]}}")),
		act("a pod made", create(pod("late", "app: web", "{"+onA+"}"))), act("taint removed", patch("nodes/node-a", "{spec: {taints: null}}")))
	spread := "{topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, maxSkew: 1, labelSelector: {matchLabels: {app: web}}}], " + onA + "}"
	add("the-spread-is-even", false, []map[string]any{pod("first", "app: web", "{"+onA+"}"), pod("late", "app: web", spread)}, gone)
	add("the-other-node-has-one", false, []map[string]any{pod("first", "app: web", "{"+onA+"}"), pod("late", "app: web", spread)}, act("a pod made on node-b", create(pod("second", "app: web", "{nodeSelector: {kubernetes.io/hostname: node-b}}"))))
	claims := func(name string) map[string]any { return with(pod(name, "app: web", "{}"), mountsClaim) }
	claimed := claims("late")
	class := object("{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: %s}, provisioner: kubernetes.io/no-provisioner, reclaimPolicy: Retain, volumeBindingMode: WaitForFirstConsumer}", here)
	claim := object("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: %s, resources: {requests: {storage: 1Gi}}}}", here)
	volume := object("{apiVersion: v1, kind: PersistentVolume, metadata: {name: %s}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: %s, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-b]}]}]}}, hostPath: {path: /tmp/%s}}}", here, here, here)
	add("its-claim-comes", false, []map[string]any{class, volume, claimed}, act("the claim made", create(claim)))
	add("a-volume-comes", false, []map[string]any{class, claim, claimed}, act("a volume made", create(volume)))
	add("its-class-comes", false, []map[string]any{claim, volume, claimed}, act("the class made", create(class)))
	own := with(claim, "{spec: {accessModes: [ReadWriteOncePod]}}")
	add("its-claim-is-free", false, []map[string]any{class, with(volume, "{spec: {accessModes: [ReadWriteOncePod]}}"), own, claims("first"), claimed}, gone)
	return byName(all)
}
