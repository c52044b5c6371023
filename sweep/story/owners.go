package story

import (
	"fmt"
	"slices"
)

// podSpec is a pod that runs until it is stopped, at once.
const podSpec = `{terminationGracePeriodSeconds: 1, containers: [{name: app, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: 10m, memory: 16Mi}}}]}`

// mountsClaim is what a pod has that uses the claim data.
const mountsClaim = "{spec: {volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}}"

// webTemplate is the pod template of workloads, whose pods have a label.
const webTemplate = "{metadata: {labels: {app: web}}, spec: " + podSpec + "}"

// workload is a kind of workload, with what can be done to it.
type workload struct {
	name string
	o    map[string]any
	// can are the groups of acts that it takes.
	can []string
}

func workloads() []workload {
	return []workload{
		{"deployment", object("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, progressDeadlineSeconds: 1, selector: {matchLabels: {app: web}}, template: %s}}", webTemplate), []string{"scale", "template", "pause"}},
		{"recreate", object("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, strategy: {type: Recreate}, selector: {matchLabels: {app: web}}, template: %s}}", webTemplate), []string{"scale", "template", "pause"}},
		{"replicaset", object("{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: %s}}", webTemplate), []string{"scale"}},
		{"statefulset", object("{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: 2, serviceName: web, selector: {matchLabels: {app: web}}, template: %s}}", webTemplate), []string{"scale", "template", "pod"}},
		{"statefulset-parallel", object("{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: 2, podManagementPolicy: Parallel, serviceName: web, selector: {matchLabels: {app: web}}, template: %s}}", webTemplate), []string{"scale", "template", "pod"}},
		{"daemonset", object("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: %s}}", webTemplate), []string{"template", "select"}},
		{"job", objects("{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {parallelism: 2, completions: 2, template: {metadata: {labels: {app: web}}, spec: {restartPolicy: Never, terminationGracePeriodSeconds: 1, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\"}]}}}}")[0], []string{"suspend", "parallel"}},
		{"job-indexed", objects("{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {completionMode: Indexed, parallelism: 2, completions: 2, template: {metadata: {labels: {app: web}}, spec: {restartPolicy: Never, terminationGracePeriodSeconds: 1, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\"}]}}}}")[0], []string{"suspend", "parallel"}},
	}
}

// deed is something that an owner does, and perhaps undoes.
type deed struct {
	name string
	// needs is what a workload must be able to; empty for each.
	needs string
	acts  func(w workload, of string) []Act
}

// deeds are all that owners do.
func deeds() []deed { return append(changes(), ends()...) }

// changes are what leaves a workload there.
func changes() []deed {
	return []deed{
		{"label", "", func(_ workload, of string) []Act { return []Act{labeled(of)} }},
		{"scale", "scale", func(_ workload, of string) []Act {
			return []Act{
				act("scaled to 4", patch(of, "{spec: {replicas: 4}}")), act("scaled to 0", patch(of, "{spec: {replicas: 0}}")),
				act("scaled to 1", patch(of, "{spec: {replicas: 1}}")),
			}
		}},
		{"template", "template", func(_ workload, of string) []Act {
			return []Act{
				act("pod template changed", patch(of, "{spec: {template: {metadata: {annotations: {changed: once}}}}}")),
				act("pod template changed back", patch(of, "{spec: {template: {metadata: {annotations: {changed: null}}}}}")),
			}
		}},
		{"late-template", "template", func(_ workload, of string) []Act {
			return []Act{
				act("pods available once they are ready for 3 s", patch(of, "{spec: {minReadySeconds: 3}}")),
				act("pod template changed", patch(of, "{spec: {template: {metadata: {annotations: {changed: once}}}}}")),
			}
		}},
		{"broken-template", "template", func(_ workload, of string) []Act {
			return []Act{
				act("pod template given an image that is not there", patch(of, `{spec: {template: {spec: {containers: [{name: app, image: "registry.invalid/gone"}]}}}}`)),
				act("pod template changed back", patch(of, `{spec: {template: {spec: {containers: [{name: app, image: "registry.k8s.io/pause:3.10"}]}}}}`)),
			}
		}},
		{"pause", "pause", func(_ workload, of string) []Act {
			return []Act{
				act("paused, changed and scaled", patch(of, "{spec: {paused: true}}"), patch(of, "{spec: {replicas: 3, template: {metadata: {annotations: {changed: once}}}}}")),
				act("resumed", patch(of, "{spec: {paused: false}}")),
			}
		}},
		{"suspend", "suspend", func(_ workload, of string) []Act {
			return []Act{act("suspended", patch(of, "{spec: {suspend: true}}")), act("resumed", patch(of, "{spec: {suspend: false}}"))}
		}},
		{"parallelism", "parallel", func(_ workload, of string) []Act {
			return []Act{act("parallelism set to 1", patch(of, "{spec: {parallelism: 1}}")), act("parallelism set to 2", patch(of, "{spec: {parallelism: 2}}"))}
		}},
	}
}

// ends are what deletes a workload, or is about its pods.
func ends() []deed {
	return []deed{
		{"remove", "", func(_ workload, of string) []Act {
			return []Act{act("deleted in the background", remove(of, "Background"))}
		}},
		{"remove-foreground", "", func(_ workload, of string) []Act {
			return []Act{act("deleted in the foreground", remove(of, "Foreground"))}
		}},
		{"remake", "", func(w workload, of string) []Act {
			return []Act{act("deleted and made again", remove(of, "Background"), create(w.o))}
		}},
		{"orphan", "", func(w workload, of string) []Act {
			return []Act{act("deleted without what it owns", remove(of, "Orphan")), act("made again", create(w.o))}
		}},
		{"relabel-pod", "pod", func(workload, string) []Act {
			pod := "pods/" + here + "/web-1"
			return []Act{
				act("a pod taken out of the selector", patch(pod, "{metadata: {labels: {app: other}}}")),
				act("the pod put back", patch(pod, "{metadata: {labels: {app: web}}}")),
			}
		}},
		{"remove-pod", "pod", func(workload, string) []Act {
			return []Act{act("a pod deleted", remove("pods/"+here+"/web-0", ""))}
		}},
		{"evict-pod", "pod", func(workload, string) []Act {
			eviction := objects("{apiVersion: policy/v1, kind: Eviction, metadata: {name: web-0}}")[0]
			return []Act{act("a pod evicted", Step{"create": map[string]any{"subresource": "pods/eviction", "object": eviction}})}
		}},
		{"resize-pod", "pod", func(workload, string) []Act {
			resized := func(cpu string) Step {
				return resize("pods/"+here+"/web-0", fmt.Sprintf("{spec: {containers: [{name: app, resources: {requests: {cpu: %s, memory: 16Mi}}}]}}", cpu))
			}
			return []Act{act("a pod resized", resized("20m")), act("a pod resized back", resized("10m"))}
		}},
		{"select-no-node", "select", func(_ workload, of string) []Act {
			return []Act{
				act("a node selector that no node has", patch(of, "{spec: {template: {spec: {nodeSelector: {no: node}}}}}")),
				act("no node selector", patch(of, "{spec: {template: {spec: {nodeSelector: null}}}}")),
			}
		}},
	}
}

// owners are each deed with each workload that takes it.
func owners() (all []Story) {
	for _, w := range workloads() {
		for _, d := range deeds() {
			if d.needs == "" || slices.Contains(w.can, d.needs) {
				all = append(all, Story{Name: w.name + "-" + d.name, Objects: []map[string]any{w.o}, Acts: d.acts(w, ref(w.o))})
			}
		}
	}
	return append(all, nodes()...)
}

// nodes are what is done to nodes while workloads run on them.
func nodes() (all []Story) {
	var everything []map[string]any
	for n, w := range workloads() {
		everything = append(everything, with(w.o, "{metadata: {name: web-%d}, spec: {template: {metadata: {labels: {app: web-%d}}}}}", n, n))
		if kind := w.o["kind"]; kind != "Job" {
			everything[n] = with(everything[n], "{spec: {selector: {matchLabels: {app: web-%d}}}}", n)
		}
	}
	taint := func(effect string) Step {
		return patch("nodes/node-a", fmt.Sprintf("{spec: {taints: [{key: example.com/own, value: mine, effect: %s}]}}", effect))
	}
	back := act("taint removed", patch("nodes/node-a", "{spec: {taints: null}}"))
	nudge := labeled("daemonsets/" + here + "/web-5")
	for _, effect := range []string{"NoSchedule", "NoExecute", "PreferNoSchedule"} {
		all = append(all, Story{Name: "node-taint-" + effect, Alone: true, Objects: everything, Acts: []Act{act("node-a tainted "+effect, taint(effect)), nudge, back}})
	}
	all = append(all, Story{Name: "node-taint-NoSchedule-counted", Alone: true, Objects: everything, Acts: []Act{
		act("node-a tainted NoSchedule, and a DaemonSet labeled afterwards", taint("NoSchedule"), wait(2), nudge.Steps[0]), back}})
	cordon := func(is bool) Step { return patch("nodes/node-a", fmt.Sprintf("{spec: {unschedulable: %t}}", is)) }
	return append(all,
		Story{Name: "node-cordon", Alone: true, Objects: everything, Acts: []Act{act("node-a cordoned", cordon(true)), nudge, act("node-a uncordoned", cordon(false))}},
		Story{Name: "node-label", Alone: true, Objects: append(everything, objects(
			"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: chosen}, spec: {selector: {matchLabels: {app: chosen}}, template: {metadata: {labels: {app: chosen}}, spec: {nodeSelector: {example.com/chosen: \"yes\"}, terminationGracePeriodSeconds: 1, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\"}]}}}}")...),
			Acts: []Act{
				act("node-a labeled", patch("nodes/node-a", `{metadata: {labels: {example.com/chosen: "yes"}}}`)),
				act("label removed", patch("nodes/node-a", "{metadata: {labels: {example.com/chosen: null}}}")),
			}})
}
