package engine

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

func TestNames(t *testing.T) {
	t.Parallel()
	n := names{suffix: "-skw0001", nodes: []string{"node-a"}, scheduled: true}
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
	if diff := cmp.Diff(want, n.object(manifest)); diff != "" {
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
	if diff := cmp.Diff(placed, n.object(deployment)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, c := range []struct{ ref, want string }{
		{"pods/web", "pods/default-skw0001/web"}, {"pods/payments/node-a", "pods/payments-skw0001/node-a"},
		{"nodes/node-a", "nodes/node-a-skw0001"}, {"nodes/node-x", "nodes/node-x"},
	} {
		ref, err := spec.ParseObjectRef(c.ref)
		if got := n.ref(ref).String(); err != nil || got != c.want {
			t.Errorf("%s is %s (%v), want %s", c.ref, got, err, c.want)
		}
	}
	for _, c := range []struct{ path, want string }{
		{"/api/v1/namespaces/default/pods/a", "/api/v1/namespaces/default-skw0001/pods/a"},
		{"/containerLogs/default/a/app", "/containerLogs/default-skw0001/a/app"},
		{"/api/v1/namespaces", "/api/v1/namespaces"}, {"/pods", "/pods"},
	} {
		if got := n.path(c.path); got != c.want {
			t.Errorf("%s is %s, want %s", c.path, got, c.want)
		}
	}
}

// TestNamesOfOnesOwn: a cell that has its control plane for itself has the names that it gave.
func TestNamesOfOnesOwn(t *testing.T) {
	t.Parallel()
	n := names{nodes: []string{"node-a"}}
	manifest := decoded(t, `{kind: Pod, metadata: {name: web}, spec: {nodeName: node-a}}`)
	if diff := cmp.Diff(decoded(t, string(encoded(t, manifest))), n.object(manifest)); diff != "" {
		t.Error(diff)
	}
}

// TestARecordHasNothingThatWasAdded: what a cell needs beside others was not in its manifests.
func TestARecordHasNothingThatWasAdded(t *testing.T) {
	t.Parallel()
	n := names{suffix: "-skw0001", scheduled: true}
	for _, c := range []struct{ manifest, want string }{
		{`{kind: Pod, spec: {containers: []}}`, `{"kind":"Pod","metadata":{"namespace":"default"},"spec":{"containers":[]}}`},
		{`{kind: Pod, spec: {containers: [], a: 1, z: 1}}`, `{"kind":"Pod","metadata":{"namespace":"default"},"spec":{"a":1,"containers":[],"z":1}}`},
		{`{kind: Pod, spec: {containers: [], nodeSelector: {a: b}}}`, `{"kind":"Pod","metadata":{"namespace":"default"},"spec":{"containers":[],"nodeSelector":{"a":"b"}}}`},
		{`{kind: Pod, spec: {containers: [], nodeSelector: {z: b}}}`, `{"kind":"Pod","metadata":{"namespace":"default"},"spec":{"containers":[],"nodeSelector":{"z":"b"}}}`},
	} {
		h := new(record.History)
		h.Without(n.added()...)
		h.Append("engine", "", record.APIAnswer{Response: n.object(decoded(t, c.manifest))})
		var got struct{ Response json.RawMessage }
		if err := json.Unmarshal(h.Events()[0].Data, &got); err != nil || string(got.Response) != c.want {
			t.Errorf("%s (%v), want %s", got.Response, err, c.want)
		}
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
