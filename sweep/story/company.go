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
	add := func(name string, acts []Act, all2 ...map[string]any) {
		all = append(all, Story{Name: name, Objects: all2, Acts: acts})
	}
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		q := amounts[name]
		pod := object(`{apiVersion: v1, kind: Pod, metadata: {name: big}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: app, image: "registry.k8s.io/pause:3.10", resources: {limits: {memory: %q}}}]}}`, q)
		add("limit-range-"+name, []Act{act("a pod made", create(pod))}, objects("{apiVersion: v1, kind: LimitRange, metadata: {name: limits}, spec: {limits: [{type: Container, max: {memory: 1Gi}}]}}")[0])
		add("pod-limit-range-"+name, []Act{act("a pod made", create(pod))}, objects("{apiVersion: v1, kind: LimitRange, metadata: {name: limits}, spec: {limits: [{type: Pod, max: {memory: 1Gi}}]}}")[0])
		add("quota-"+name, []Act{act("a pod made", create(pod))}, objects("{apiVersion: v1, kind: ResourceQuota, metadata: {name: quota}, spec: {hard: {limits.memory: 1Gi, pods: 5}}}")[0])
		add("quota-of-"+name, []Act{labeled("resourcequotas/" + here + "/quota")},
			object(`{apiVersion: v1, kind: ResourceQuota, metadata: {name: quota}, spec: {hard: {requests.memory: %q}}}`, q))
		add("quota-of-pods-"+name, []Act{labeled("resourcequotas/" + here + "/quota")},
			object(`{apiVersion: v1, kind: ResourceQuota, metadata: {name: quota}, spec: {hard: {pods: %q}}}`, q))
		claim := object(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: %q}}}}`, q)
		add("claim-"+name, nil, claim)
		for what, of := range map[string][2]string{"of": {q, "1Gi"}, "for": {"1Gi", q}} { // how much there is, and how much is asked for
			add("storage-"+what+"-"+name, nil, storage(of[0], of[1])...)
		}
		add("pod-requests-"+name, nil, with(pod, `{spec: {containers: [{name: app, image: "registry.k8s.io/pause:3.10", resources: {requests: {memory: %q}}}]}}`, q))
	}
	return byName(all)
}

// storage is that of a driver which has so much of it, and a pod whose claim asks for some.
func storage(capacity, asked string) []map[string]any {
	driver := here + ".example.com"
	return []map[string]any{
		object("{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: %s}, spec: {attachRequired: false, storageCapacity: true}}", driver),
		object("{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: %s}, provisioner: %s, reclaimPolicy: Retain, volumeBindingMode: WaitForFirstConsumer}", here, driver),
		object("{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: free}, storageClassName: %s, nodeTopology: {}, capacity: %q}", here, capacity),
		object("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: %s, resources: {requests: {storage: %q}}}}", here, asked),
		with(object("{apiVersion: v1, kind: Pod, metadata: {name: writer}, spec: %s}", podSpec), mountsClaim),
	}
}
