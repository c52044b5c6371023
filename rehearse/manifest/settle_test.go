package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readOne reads the only object of a text.
func readOne(t *testing.T, text string) map[string]any {
	t.Helper()
	objects, problems := Read("f", []byte(text))
	if len(objects) != 1 || len(problems) > 0 {
		t.Fatalf("read %d objects, problems %v, want one object:\n%s", len(objects), problems, text)
	}
	return objects[0].Object
}

// TestStrip: dump is read as clean is.
func TestStrip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, dump, clean string }{
		{"metadata", `
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  uid: u
  resourceVersion: "1"
  generation: 2
  creationTimestamp: "2026-01-01T00:00:00Z"
  deletionTimestamp: "2026-01-01T00:00:00Z"
  deletionGracePeriodSeconds: 30
  selfLink: /api
  managedFields: []
  finalizers: [example.com/a]
  ownerReferences: [{apiVersion: example.com/v1, kind: A, name: a, uid: x, controller: true}]
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", a: b}
status: {}
`, `
apiVersion: v1
kind: ConfigMap
metadata: {name: a, finalizers: [example.com/a], annotations: {a: b}}
`},
		{"annotations of tools only", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, creationTimestamp: null, annotations: {deployment.kubernetes.io/revision: "3"}}
`, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}"},
		{"a Pod", `
apiVersion: v1
kind: Pod
metadata: {name: a, uid: u}
spec:
  nodeName: n
  containers:
  - name: a
    volumeMounts: [{name: kube-api-access-x, mountPath: /a}, {name: b, mountPath: /b}]
  - name: b
    volumeMounts: [{name: kube-api-access-x, mountPath: /a}]
  volumes: [{name: b, emptyDir: {}}, {name: kube-api-access-x, projected: {}}]
`, `
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: a
    volumeMounts: [{name: b, mountPath: /b}]
  - name: b
  volumes: [{name: b, emptyDir: {}}]
`},
		{"a Service", `
apiVersion: v1
kind: Service
metadata: {name: a, uid: u}
spec: {type: LoadBalancer, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], healthCheckNodePort: 30001, ports: [{port: 80, nodePort: 30000}]}
`, "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {type: LoadBalancer, ports: [{port: 80}]}"},
		{"a claim", `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a, uid: u, annotations: {pv.kubernetes.io/bind-completed: "yes", volume.kubernetes.io/storage-provisioner: x, volume.beta.kubernetes.io/storage-class: c}}
spec: {volumeName: v, storageClassName: c}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a, annotations: {volume.beta.kubernetes.io/storage-class: c}}
spec: {storageClassName: c}
`},
		{"a volume", `
apiVersion: v1
kind: PersistentVolume
metadata: {name: a, uid: u, annotations: {pv.kubernetes.io/provisioned-by: x}}
spec: {claimRef: {kind: PersistentVolumeClaim, namespace: a, name: b, uid: x, resourceVersion: "1"}}
`, "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: a}\nspec: {claimRef: {kind: PersistentVolumeClaim, namespace: a, name: b}}"},
		{"a Job", `
apiVersion: batch/v1
kind: Job
metadata: {name: a, labels: {batch.kubernetes.io/controller-uid: u, batch.kubernetes.io/job-name: a, app: web}}
spec:
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}
  template: {metadata: {labels: {controller-uid: u, job-name: a, batch.kubernetes.io/controller-uid: u}}, spec: {}}
`, "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, labels: {app: web}}\nspec: {template: {metadata: {}, spec: {}}}"},
		{"a Namespace", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\nspec: {finalizers: [kubernetes]}", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}"},
	} {
		if diff := cmp.Diff(readOne(t, c.clean), readOne(t, c.dump)); diff != "" {
			t.Errorf("%s: differs from the clean one (-clean +dump):\n%s", c.name, diff)
		}
	}
}

// TestKept: what people write stays, though a server may set it.
func TestKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		path []string
		want any
	}{
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: a}", []string{"spec"}, map[string]any{"nodeName": "a"}},
		{"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {clusterIP: None, ports: [{nodePort: 30000}]}", []string{"spec"},
			map[string]any{"clusterIP": "None", "ports": []any{map[string]any{"nodePort": int64(30000)}}}},
		{"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {manualSelector: true, selector: {matchLabels: {controller-uid: u}}}", []string{"spec", "selector", "matchLabels"},
			map[string]any{"controller-uid": "u"}},
		{"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\nspec: {volumeName: v}", []string{"spec"}, map[string]any{"volumeName": "v"}},
		{"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: text", []string{"spec"}, map[string]any(nil)},
	} {
		if diff := cmp.Diff(c.want, any(field(readOne(t, c.text), c.path...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
	}
}

// TestGenerated: each document is left out, but those whose names begin with "keep".
func TestGenerated(t *testing.T) {
	t.Parallel()
	for text := range strings.SplitSeq(`
apiVersion: v1
kind: Event
metadata: {name: a}
---
apiVersion: v1
kind: Node
metadata: {name: a}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: a, uid: u}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: keep}
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: a, uid: u}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-root-ca.crt, namespace: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: extension-apiserver-authentication, namespace: kube-system}
---
apiVersion: v1
kind: Secret
metadata: {name: a}
type: kubernetes.io/service-account-token
data: {token: eA==}
---
apiVersion: v1
kind: Secret
metadata: {name: keep, annotations: {kubernetes.io/service-account.name: a}}
type: kubernetes.io/service-account-token
---
apiVersion: v1
kind: Service
metadata: {name: kubernetes, namespace: default}
---
apiVersion: v1
kind: Endpoints
metadata: {name: kubernetes, namespace: default}
---
apiVersion: v1
kind: Endpoints
metadata: {name: a, annotations: {endpoints.kubernetes.io/last-change-trigger-time: x}}
---
apiVersion: v1
kind: Endpoints
metadata: {name: keep}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: a, labels: {endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: keep, labels: {endpointslice.kubernetes.io/managed-by: me}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: a, labels: {kubernetes.io/bootstrapping: rbac-defaults}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.apps}
spec: {group: apps}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: keep}
spec: {service: {name: a}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: system-node-critical}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: a, annotations: {apf.kubernetes.io/autoupdate-spec: "true"}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: keep, annotations: {apf.kubernetes.io/autoupdate-spec: "false"}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, annotations: {kubernetes.io/config.mirror: x}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: shop, uid: u}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: job-controller, namespace: kube-system, uid: u}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: keep, namespace: shop, uid: u}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: keep, namespace: kube-system}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: keep, uid: u}
imagePullSecrets: [{name: registry}]
---
apiVersion: certificates.k8s.io/v1
kind: ClusterTrustBundle
metadata: {name: "kubernetes.io:kube-apiserver-serving:1"}
spec: {signerName: kubernetes.io/kube-apiserver-serving}
---
apiVersion: certificates.k8s.io/v1
kind: ClusterTrustBundle
metadata: {name: keep}
spec: {trustBundle: a}
---
apiVersion: example.com/v1
kind: Node
metadata: {name: keep}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, annotations: {helm.sh/hook: "test"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, annotations: {helm.sh/hook: "pre-delete,post-rollback"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: keep, annotations: {helm.sh/hook: "pre-upgrade, pre-install"}}
`, "---\n") {
		in := settle(parse("f", []byte(text)).objects)
		want := 0
		if strings.Contains(text, "keep") {
			want = 1
		}
		if len(in.Objects) != want || len(in.LeftOut) != 1-want || len(in.Problems) > 0 {
			t.Errorf("%s: %d objects, left out %v", text, len(in.Objects), in.LeftOut)
		}
	}
}

func TestOwned(t *testing.T) {
	t.Parallel()
	const text = `
apiVersion: v1
kind: Pod
metadata: {name: pod, namespace: a, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: rs, uid: no, controller: true}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: rs, namespace: a, uid: rs, ownerReferences: [{apiVersion: x/v1, kind: X, name: x, uid: x}, {apiVersion: apps/v1, kind: Deployment, name: other, uid: deploy, controller: true}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: a, uid: deploy}
---
apiVersion: v1
kind: Pod
metadata: {name: elsewhere, namespace: b, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: rs, uid: no, controller: true}]}
---
apiVersion: v1
kind: Pod
metadata: {name: not-controlled, namespace: a, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: rs, uid: rs}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: of-operator, namespace: a, ownerReferences: [{apiVersion: example.com/v1, kind: App, name: app, uid: app, controller: true}]}
---
apiVersion: example.com/v1
kind: App
metadata: {name: app, namespace: a, uid: app}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: chicken, uid: chicken, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: egg, uid: egg, controller: true}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: egg, uid: egg, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: chicken, uid: chicken, controller: true}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: itself, uid: itself, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: itself, uid: itself, controller: true}]}
`
	in := settle(parse("f", []byte(text)).objects)
	var names []string
	for _, o := range in.Objects {
		names = append(names, nameOfObject(o))
		if metadataOf(o.Object)["ownerReferences"] != nil {
			t.Errorf("%s has owners", nameOfObject(o))
		}
	}
	want := []string{"web", "elsewhere", "not-controlled", "of-operator", "app", "chicken", "egg", "itself"}
	if diff := cmp.Diff(want, names); diff != "" || in.Owned != 2 || len(in.Problems) > 0 {
		t.Errorf("owned %d, want 2; problems %v; objects (-want +got):\n%s", in.Owned, in.Problems, diff)
	}
}

func nameOfObject(o Object) string { return text(metadataOf(o.Object), "name") }
