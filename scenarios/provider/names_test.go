package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/scenarios/spec"
)

func TestNames(t *testing.T) {
	t.Parallel()
	n := Names{
		Suffix: "-skw0001", Node: func(name string) string {
			return strings.Replace(name, "node-a", "node-a-skw0001", 1)
		},
		Confine: func(pod map[string]any) {
			selector, _ := pod["nodeSelector"].(map[string]any)
			selector["skewrig.dev/rig"] = "skw0001"
		},
	}
	manifest := decoded(t, `
kind: Pod
metadata: {name: node-a, labels: {on: node-a}}
spec:
  nodeName: node-a
  nodeSelector: {kubernetes.io/hostname: node-a, disk: fast}
  affinity: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, values: [node-a, node-x]}]}]}}}
  containers: [{name: app, args: [--host, node-a]}]`)
	before := decoded(t, string(encoded(t, manifest)))
	want := decoded(t, `
kind: Pod
metadata: {name: node-a, namespace: default-skw0001, labels: {on: node-a}}
spec:
  nodeName: node-a-skw0001
  nodeSelector: {kubernetes.io/hostname: node-a-skw0001, disk: fast}
  affinity: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, values: [node-a-skw0001, node-x]}]}]}}}
  containers: [{name: app, args: [--host, node-a]}]`)
	if diff := cmp.Diff(want, n.Object(manifest)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(before, manifest); diff != "" {
		t.Errorf("the scenario's own manifest has changed:\n%s", diff)
	}
	deployment := decoded(t, `{kind: Deployment, metadata: {name: web}, spec: {template: {spec: {nodeSelector: {disk: fast}, containers: [{name: app}]}}}}`)
	placed := decoded(t, `
kind: Deployment
metadata: {name: web, namespace: default-skw0001}
spec: {template: {spec: {nodeSelector: {disk: fast, skewrig.dev/rig: skw0001}, containers: [{name: app}]}}}`)
	if diff := cmp.Diff(placed, n.Object(deployment)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, c := range []struct{ ref, want string }{
		{"pods/web", "pods/default-skw0001/web"}, {"pods/payments/node-a", "pods/payments-skw0001/node-a"},
		{"nodes/node-a", "nodes/node-a-skw0001"}, {"nodes/node-x", "nodes/node-x"},
	} {
		ref, err := spec.ParseObjectRef(c.ref)
		if got := n.Ref(ref).String(); err != nil || got != c.want {
			t.Errorf("%s is %s (%v), want %s", c.ref, got, err, c.want)
		}
	}
	for _, c := range []struct{ path, want string }{
		{"/api/v1/namespaces/default/pods/a", "/api/v1/namespaces/default-skw0001/pods/a"},
		{"/containerLogs/default/a/app", "/containerLogs/default-skw0001/a/app"},
		{"/api/v1/namespaces", "/api/v1/namespaces"}, {"/pods", "/pods"},
	} {
		if got := n.Path(c.path); got != c.want {
			t.Errorf("%s is %s, want %s", c.path, got, c.want)
		}
	}
}

// TestNamesOfOnesOwn: a cell that has its control plane for itself has the names that it gave.
func TestNamesOfOnesOwn(t *testing.T) {
	t.Parallel()
	var n Names
	manifest := decoded(t, `{kind: Pod, metadata: {name: web}, spec: {nodeName: node-a}}`)
	if diff := cmp.Diff(decoded(t, string(encoded(t, manifest))), n.Object(manifest)); diff != "" {
		t.Error(diff)
	}
}

func decoded(t *testing.T, text string) (object map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

func encoded(t *testing.T, object map[string]any) []byte {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
