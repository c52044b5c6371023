package story

import (
	"fmt"
	"slices"
	"strings"
)

// foreign are objects that look like those that a controller makes.
func foreign() (all []Story) {
	for _, w := range workloads() {
		if slices.Contains(w.can, "pod") {
			for _, name := range []string{"web-1", "web-01", "web-x", "web-1-1"} {
				pod := object("{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {app: web}}, spec: %s}", name, podSpec)
				all = append(all, Story{Name: fmt.Sprintf("%s-beside-%s", w.name, name), Objects: []map[string]any{pod}, Acts: []Act{
					act("made", create(w.o)), act("scaled to 3", patch(ref(w.o), "{spec: {replicas: 3}}"))}})
			}
		}
		pod := object("{apiVersion: v1, kind: Pod, metadata: {name: stray, labels: {app: web}}, spec: %s}", podSpec)
		if w.name != "job" && w.name != "job-indexed" {
			all = append(all, Story{Name: w.name + "-adopts", Objects: []map[string]any{pod}, Acts: []Act{act("made", create(w.o))}})
		}
	}
	two := objects(fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: %s}}\n---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web-2}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: %s}}", webTemplate, webTemplate))
	return append(all, Story{Name: "two-deployments-of-one-label", Objects: two, Acts: []Act{act("one scaled", patch(ref(two[0]), "{spec: {replicas: 3}}"))}})
}

// applied are objects that are applied twice, the second time with a part less.
func applied() (all []Story) {
	apply := func(o map[string]any) Step {
		return Step{"serverSideApply": map[string]any{"object": o, "manager": "owner"}}
	}
	parts := []struct{ name, full, less string }{
		{"deployment-strategy", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}, selector: {matchLabels: {app: web}}, template: %s}}", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: %s}}"},
		{"deployment-security", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {securityContext: {seccompProfile: {type: RuntimeDefault}}, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\", securityContext: {capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}}]}}}}", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: %s}}"},
		{"deployment-probes", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: \"registry.k8s.io/pause:3.10\", lifecycle: {preStop: {sleep: {seconds: 1}}}, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]}}}}", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: \"registry.k8s.io/pause:3.10\"}]}}}}"},
		{"job-policies", "{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {suspend: true, completionMode: Indexed, completions: 2, podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget, status: \"True\"}]}]}, template: {spec: {restartPolicy: Never, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\"}]}}}}", "{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {suspend: true, completionMode: Indexed, completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: app, image: \"registry.k8s.io/pause:3.10\"}]}}}}"},
		{"statefulset-update", "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {serviceName: web, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}, persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}, selector: {matchLabels: {app: web}}, template: %s}}", "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {serviceName: web, selector: {matchLabels: {app: web}}, template: %s}}"},
		{"service-traffic", "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 10}}, selector: {app: web}, ports: [{port: 80}]}}", "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}"},
		{"network-policy", "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: api}}}], ports: [{port: 80, endPort: 90}]}], policyTypes: [Ingress]}}", "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {}, policyTypes: [Ingress]}}"},
		{"ingress-default", "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {defaultBackend: {service: {name: web, port: {number: 80}}}, rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}", "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}"},
		{"autoscaler-behavior", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 3, behavior: {scaleDown: {stabilizationWindowSeconds: 10, policies: [{type: Pods, value: 1, periodSeconds: 10}]}}}}", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 3}}"},
		{"claim-source", "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {accessModes: [ReadWriteOnce], selector: {matchLabels: {a: b}}, resources: {requests: {storage: 1Gi}}}}", "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}"},
	}
	fill := func(text string) map[string]any {
		return objects(strings.ReplaceAll(text, "%s", webTemplate))[0]
	}
	for _, p := range parts {
		all = append(all, Story{Name: p.name, Acts: []Act{act("applied", apply(fill(p.full))), act("applied without a part", apply(fill(p.less))), act("applied whole again", apply(fill(p.full)))}})
	}
	return all
}
