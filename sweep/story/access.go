package story

import (
	"fmt"
	"maps"
	"slices"
)

// access are Secrets and ConfigMaps to which pods of a node refer once or more often, until the pods or they themselves are gone.
func access() (all []Story) {
	kept := objects("{apiVersion: v1, kind: Secret, metadata: {name: kept}, stringData: {key: value}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: kept}, data: {key: value}}")
	const app = `{name: app, image: "registry.k8s.io/pause:3.10"`
	pods := map[string]string{
		"volume":          "volumes: [{name: one, secret: {secretName: kept}}], containers: [" + app + "}]",
		"volume-twice":    "volumes: [{name: one, secret: {secretName: kept}}, {name: two, secret: {secretName: kept}}], containers: [" + app + "}]",
		"projected-twice": "volumes: [{name: one, projected: {sources: [{secret: {name: kept}}, {secret: {name: kept, optional: true}}]}}], containers: [" + app + "}]",
		"env-and-volume":  "volumes: [{name: one, secret: {secretName: kept}}], containers: [" + app + ", env: [{name: A, valueFrom: {secretKeyRef: {name: kept, key: key}}}]}]",
		"pull-and-volume": "imagePullSecrets: [{name: kept}], volumes: [{name: one, secret: {secretName: kept}}], containers: [" + app + "}]",
		"map-twice":       "volumes: [{name: one, configMap: {name: kept}}, {name: two, configMap: {name: kept}}], containers: [" + app + "}]",
		"map-and-env":     "volumes: [{name: one, configMap: {name: kept}}], containers: [" + app + ", envFrom: [{configMapRef: {name: kept}}]}]",
		"both":            "volumes: [{name: one, secret: {secretName: kept}}, {name: two, configMap: {name: kept}}], containers: [" + app + "}]",
	}
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		pod := object("{apiVersion: v1, kind: Pod, metadata: {name: reader}, spec: {terminationGracePeriodSeconds: 1, %s}}", pods[name])
		of := ref(pod)
		all = append(all,
			Story{Name: name, Objects: append(slices.Clone(kept), pod), Acts: []Act{
				act("the pod deleted", remove(of, "")), act("the pod made again", create(pod)),
			}},
			Story{Name: name + "-remade", Objects: append(slices.Clone(kept), pod), Acts: []Act{
				act("Secret and ConfigMap deleted and made again", remove(ref(kept[0]), ""), remove(ref(kept[1]), ""), create(kept...)), act("the pod deleted", remove(of, "")),
			}},
			Story{Name: name + "-by-two", Objects: append(slices.Clone(kept), pod, with(pod, "{metadata: {name: other}}")), Acts: []Act{
				act("a pod deleted", remove(of, "")), act("the other pod deleted", remove("pods/"+here+"/other", "")),
			}})
	}
	return append(all, byMany())
}

// many is above the number of references from which on an API server has an index of them (plugin/pkg/auth/authorizer/node/graph.go).
const many = 210

// byMany is a Secret to which many pods of a node without a kubelet refer, and one of two pods of another node, twice.
func byMany() Story {
	all := objects("{apiVersion: v1, kind: Node, metadata: {name: " + here + "}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: kept}, stringData: {key: value}}")
	pod := func(name, node, volumes string) map[string]any {
		return object("{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {nodeName: %s, terminationGracePeriodSeconds: 0, volumes: [%s], containers: [{name: app, image: \"registry.k8s.io/pause:3.10\"}]}}", name, node, volumes)
	}
	const one = "{name: one, secret: {secretName: kept}}"
	for n := range many {
		all = append(all, pod(fmt.Sprintf("other-%d", n), here, one))
	}
	reader := pod("reader", "node-a", one+", {name: two, secret: {secretName: kept}}")
	return Story{Name: "volume-twice-by-many", Alone: true, Objects: append(all, pod("stays", "node-a", ""), reader), Acts: []Act{act("the pod deleted that refers to it twice", remove(ref(reader), ""))}}
}

// stored are objects that etcd has without fields that API servers fill in today, as older releases left them.
func stored() (all []Story) {
	add := func(name, manifest, merge string, more ...Act) {
		o := objects(manifest)[0]
		put := Step{"store": map[string]any{"object": ref(o), "version": ofRelease, "merge": objects(merge)[0]}}
		all = append(all, Story{Name: name, Objects: []map[string]any{o}, Acts: append([]Act{
			act("stored as an older release had it", put), labeled(ref(o)),
		}, more...)})
	}
	service := "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {%s, ports: [{port: 80}]}}"
	for name, merge := range map[string]string{
		"families": "{spec: {ipFamilies: null, ipFamilyPolicy: null}}", "addresses": "{spec: {clusterIPs: null}}", "policies": "{spec: {internalTrafficPolicy: null, sessionAffinity: null}}",
		"all": "{spec: {ipFamilies: null, ipFamilyPolicy: null, clusterIPs: null, internalTrafficPolicy: null}}",
	} {
		status := act("status written", patch("services/"+here+"/web", "{status: {loadBalancer: {ingress: [{ip: 240.0.2.1}]}}}"))
		add("service-without-"+name, fmt.Sprintf(service, "selector: {app: web}"), merge, status)
		add("headless-service-without-"+name, fmt.Sprintf(service, "clusterIP: None, selector: {app: web}"), merge)
	}
	claim := "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}"
	add("claim-without-mode", claim, "{spec: {volumeMode: null}}", act("status written", patch("persistentvolumeclaims/"+here+"/data", "{status: {conditions: [{type: Resizing, status: \"True\"}]}}")))
	add("volume-without-mode", "{apiVersion: v1, kind: PersistentVolume, metadata: {name: "+here+"}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /tmp/"+here+"}}}", "{spec: {volumeMode: null}}")
	add("deployment-without-strategy", fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: %s}}", webTemplate), "{spec: {strategy: null, progressDeadlineSeconds: null, revisionHistoryLimit: null}}")
	add("statefulset-without-policies", fmt.Sprintf("{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {serviceName: web, selector: {matchLabels: {app: web}}, template: %s}}", webTemplate), "{spec: {podManagementPolicy: null, updateStrategy: null, revisionHistoryLimit: null, persistentVolumeClaimRetentionPolicy: null}}")
	add("daemonset-without-strategy", fmt.Sprintf("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: %s}}", webTemplate), "{spec: {updateStrategy: null, revisionHistoryLimit: null}}")
	add("job-without-mode", "{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\"}]}}}}", "{spec: {completionMode: null, backoffLimit: null, suspend: null, podReplacementPolicy: null}}")
	add("cronjob-without-policy", "{apiVersion: batch/v1, kind: CronJob, metadata: {name: web}, spec: {schedule: \"0 0 1 1 *\", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\"}]}}}}}}", "{spec: {concurrencyPolicy: null, suspend: null, successfulJobsHistoryLimit: null, failedJobsHistoryLimit: null}}")
	add("secret-without-type", "{apiVersion: v1, kind: Secret, metadata: {name: web}, stringData: {key: value}}", "{type: null}")
	add("policy-without-types", "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {}}}", "{spec: {policyTypes: null}}")
	for _, name := range []string{"fraction", "beyond-int64", "exponent"} {
		value := amounts[name]
		quota := "{apiVersion: v1, kind: ResourceQuota, metadata: {name: quota}, spec: {hard: {pods: 5, requests.memory: 1Gi}}}"
		add("quota-of-pods-"+name, quota, fmt.Sprintf("{spec: {hard: {pods: %q}}}", value))
		add("quota-of-memory-"+name, quota, fmt.Sprintf("{spec: {hard: {requests.memory: %q}}}", value))
		add("limit-range-"+name, "{apiVersion: v1, kind: LimitRange, metadata: {name: limits}, spec: {limits: [{type: Container, max: {memory: 1Gi}}]}}", fmt.Sprintf("{spec: {limits: [{type: Container, max: {memory: %q}}]}}", value))
		add("claim-"+name, claim, fmt.Sprintf("{spec: {resources: {requests: {storage: %q}}}}", value))
	}
	return byName(all)
}
