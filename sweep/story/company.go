package story

import (
	"fmt"
	"maps"
	"slices"
)

// company are workloads beside quotas, limits and budgets.
func company() (all []Story) {
	quota := func(hard string) map[string]any {
		return object("{apiVersion: v1, kind: ResourceQuota, metadata: {name: quota}, spec: {hard: {%s}}}", hard)
	}
	limits := func(of string) map[string]any {
		return object("{apiVersion: v1, kind: LimitRange, metadata: {name: limits}, spec: {limits: [%s]}}", of)
	}
	for _, w := range workloads() {
		if slices.Contains(w.can, "scale") {
			all = append(all, Story{Name: w.name + "-at-quota", Objects: []map[string]any{quota("pods: 3"), w.o}, Acts: []Act{
				act("scaled beyond the quota", patch(ref(w.o), "{spec: {replicas: 6}}")), act("scaled back", patch(ref(w.o), "{spec: {replicas: 1}}")),
			}})
		}
		if slices.Contains(w.can, "pod") {
			all = append(all, Story{Name: w.name + "-at-quota-without-first", Objects: []map[string]any{quota("pods: 3"), w.o}, Acts: []Act{
				act("scaled beyond the quota", patch(ref(w.o), "{spec: {replicas: 6}}")),
				act("a pod taken out of the selector, and scaled back", patch("pods/"+here+"/web-0", "{metadata: {labels: {app: other}}}"), patch(ref(w.o), "{spec: {replicas: 1}}")),
			}})
		}
		budget := objects("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: budget}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}}")[0]
		other := with(budget, "{metadata: {name: other}}")
		if slices.Contains(w.can, "pod") {
			relabel := act("a pod's label changed", patch("pods/"+here+"/web-1", "{metadata: {labels: {app: other}}}"))
			all = append(all,
				Story{Name: w.name + "-in-budget", Objects: []map[string]any{budget, w.o}, Acts: []Act{relabel, act("a pod deleted", remove("pods/"+here+"/web-0", ""))}},
				Story{Name: w.name + "-in-two-budgets", Objects: []map[string]any{budget, other, w.o}, Acts: []Act{
					act("scaled to 3", patch(ref(w.o), "{spec: {replicas: 3}}")), act("a budget deleted", remove(ref(other), ""))}})
		}
	}
	pod := object("{apiVersion: v1, kind: Pod, metadata: {name: alone, labels: {app: web}}, spec: %s}", podSpec)
	budget := objects("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: budget}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}}")[0]
	claim := objects("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}")[0]
	resized := func(resource, value string) Step {
		return resize(ref(pod), fmt.Sprintf("{spec: {containers: [{name: app, resources: {requests: {%s: %s}}}]}}", resource, value))
	}
	all = append(all,
		Story{Name: "pod-leaves-budget", Objects: []map[string]any{budget, pod}, Acts: []Act{
			act("label changed", patch(ref(pod), "{metadata: {labels: {app: other}}}")), act("label changed back", patch(ref(pod), "{metadata: {labels: {app: web}}}"))}},
		Story{Name: "budget-selects-all", Objects: []map[string]any{with(budget, "{spec: {selector: null}}"), pod}},
		Story{Name: "claim-at-quota", Objects: []map[string]any{quota("persistentvolumeclaims: 1, requests.storage: 1Gi"), claim}, Acts: []Act{act("another one made", create(with(claim, "{metadata: {name: more}}")))}},
	)
	for _, resource := range []string{"cpu", "memory"} {
		beside := map[string]string{"cpu": "memory", "memory": "cpu"}[resource]
		all = append(all, Story{Name: "limits-come-later-" + resource, Objects: []map[string]any{pod}, Acts: []Act{
			act("a LimitRange made that the pod is outside of", create(limits(fmt.Sprintf("{type: Container, min: {%s: 500}, max: {%s: 600}}", beside, beside)))),
			act("the other resource resized", resized(resource, map[string]string{"cpu": "20m", "memory": "32Mi"}[resource])),
		}})
	}
	return append(all,
		Story{Name: "claim-limits-come-later", Objects: []map[string]any{claim}, Acts: []Act{act("a LimitRange made that the claim is outside of", create(limits("{type: PersistentVolumeClaim, min: {storage: 5Gi}}")))}},
		Story{Name: "quota-comes-later", Objects: []map[string]any{workloads()[0].o}, Acts: []Act{act("a quota made that is used up", create(quota("pods: 1, services: 0"))), act("scaled", patch("deployments/"+here+"/web", "{spec: {replicas: 4}}"))}},
	)
}

// bounds are values at and beyond what their types hold.
func bounds() (all []Story) {
	quantities := map[string]string{"int64": "9223372036854775807", "beyond-int64": "9223372036854775808", "exa": "16Ei", "exponent": "1e30", "fraction": "1500m", "zero": "0", "negative": "-1Gi", "negative-fraction": "-9.5Gi", "below-int64": "-9223372036854775809"}
	add := func(name string, acts []Act, all2 ...map[string]any) {
		all = append(all, Story{Name: name, Objects: all2, Acts: acts})
	}
	for _, name := range slices.Sorted(maps.Keys(quantities)) {
		q := quantities[name]
		pod := object(`{apiVersion: v1, kind: Pod, metadata: {name: big}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: app, image: "registry.k8s.io/pause:3.10", resources: {limits: {memory: %q}}}]}}`, q)
		add("limit-range-"+name, []Act{act("a pod made", create(pod))}, objects("{apiVersion: v1, kind: LimitRange, metadata: {name: limits}, spec: {limits: [{type: Container, max: {memory: 1Gi}}]}}")[0])
		add("pod-limit-range-"+name, []Act{act("a pod made", create(pod))}, objects("{apiVersion: v1, kind: LimitRange, metadata: {name: limits}, spec: {limits: [{type: Pod, max: {memory: 1Gi}}]}}")[0])
		add("quota-"+name, []Act{act("a pod made", create(pod))}, objects("{apiVersion: v1, kind: ResourceQuota, metadata: {name: quota}, spec: {hard: {limits.memory: 1Gi, pods: 5}}}")[0])
		add("quota-of-"+name, []Act{act("labeled", patch("resourcequotas/"+here+"/quota", "{metadata: {labels: {touched: by-owner}}}"))},
			object(`{apiVersion: v1, kind: ResourceQuota, metadata: {name: quota}, spec: {hard: {requests.memory: %q}}}`, q))
		add("quota-of-pods-"+name, []Act{act("labeled", patch("resourcequotas/"+here+"/quota", "{metadata: {labels: {touched: by-owner}}}"))},
			object(`{apiVersion: v1, kind: ResourceQuota, metadata: {name: quota}, spec: {hard: {pods: %q}}}`, q))
		claim := object(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: %q}}}}`, q)
		add("claim-"+name, nil, claim)
		small := with(claim, "{spec: {resources: {requests: {storage: 1Gi}}}}")
		add("claim-status-"+name, []Act{
			act("status written", patch(ref(small), fmt.Sprintf(`{status: {phase: Bound, capacity: {storage: %q}}}`, q))),
			act("labeled", patch(ref(small), "{metadata: {labels: {touched: by-owner}}}")),
		}, small)
		add("pod-requests-"+name, nil, with(pod, `{spec: {containers: [{name: app, image: "registry.k8s.io/pause:3.10", resources: {requests: {memory: %q}}}]}}`, q))
	}
	return all
}
