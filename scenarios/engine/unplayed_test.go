package engine

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestAnImageThatNothingPlaysIsRefused: with the place of the container, in a file beside
// the scenario too, whatever makes its pod.
func TestAnImageThatNothingPlaysIsRefused(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"mine/pod.yaml": {Data: []byte(`apiVersion: v1
kind: Pod
metadata: {name: payments}
spec:
  initContainers:
  - {name: wait, image: busybox:1.36}
  containers:
  - name: app
    image: registry.example/paymnts:1.0
`)},
		"mine/images.yaml": {Data: []byte(`apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/group/images
title: Images
axes: {web: [nginx, pause]}
topology: {nodes: [{name: node-a}]}
images: [{image: registry.example/payments, listen: [{port: 8080, protocol: http1}]}]
steps:
- file: pod.yaml
- apply:
  - {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: "registry.k8s.io/${web}:3.9"}]}}
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      template:
        spec:
          containers: [{name: app, image: registry.example/payments:2}, {name: log, image: fluentd@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855}]
  - {apiVersion: example.com/v1, kind: Pool, metadata: {name: a}, spec: {containers: [{name: a, image: anything}]}}
- staticPod: {node: node-a, pod: {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: a, image: registry.invalid/gone}]}}}
- patch: {object: deployments/web, merge: {spec: {template: {spec: {containers: [{name: app, image: "registry.example:5000/other:2"}]}}}}}
- patch: {object: pools/a, merge: {spec: {containers: [{name: a, image: anything}]}}}
- apply: {apiVersion: v1, kind: Pod, metadata: {name: c}, spec: {containers: [{name: a, image: refused/anyway}]}}
  rejected: true
- wait: {until: 'objects["deployments/default/web"].spec.template.spec.containers[0].image == "any"'}
`)},
	}
	cells := cellsOf(t, files, "mine/images.yaml")
	const known = "what can be played is registry.example/payments, registry.k8s.io/e2e-test-images/agnhost, registry.k8s.io/e2e-test-images/busybox, registry.k8s.io/e2e-test-images/glibc-dns-testing, registry.k8s.io/e2e-test-images/nginx, registry.k8s.io/pause, busybox, skewrig.dev/server"
	const server = "his has a server in its place: images: [{image: %s, listen: [{port: 8080, protocol: http1}]}]"
	want := "mine/images.yaml:11:91: nothing plays image registry.k8s.io/nginx:3.9: did you mean registry.k8s.io/pause? Otherwise t" + fmt.Sprintf(server, "registry.k8s.io/nginx") +
		"\nmine/images.yaml:18:92: nothing plays image fluentd@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855; " + known + "; t" + fmt.Sprintf(server, "fluentd") +
		"\nmine/images.yaml:21:101: nothing plays image registry.example:5000/other:2: did you mean registry.example/payments? Otherwise t" + fmt.Sprintf(server, "registry.example:5000/other") +
		"\nmine/pod.yaml:9:12: nothing plays image registry.example/paymnts:1.0: did you mean registry.example/payments? Otherwise t" + fmt.Sprintf(server, "registry.example/paymnts")
	if diff := cmp.Diff(want, fmt.Sprint(Unplayed(cells))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAnUnusedImageIsNotRefused: without a node, or without what places the pod
// or makes it.
func TestAnUnusedImageIsNotRefused(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/group/images
title: Images
topology: TOPOLOGY
steps:
- apply: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: registry.example/app}]}}
- apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: a, image: registry.example/app}]}}}}
`
	for topology, starts := range map[string]bool{
		`{nodes: [{name: node-a}]}`: true,
		`{nodes: []}`:               false,
		`{nodes: [{name: node-a}], controlPlane: {scheduler: false}}`:                           false,
		`{nodes: [{name: node-a}], controlPlane: {scheduler: false, controllerManager: false}}`: false,
	} {
		files := fstest.MapFS{"images.yaml": {Data: []byte(strings.Replace(text, "TOPOLOGY", topology, 1))}}
		if err := Unplayed(cellsOf(t, files, "images.yaml")); (err != nil) != starts {
			t.Errorf("%s: %v", topology, err)
		}
	}
}

func cellsOf(t *testing.T, files fstest.MapFS, path string) []plan.Cell {
	t.Helper()
	loaded, err := action.Load(files, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	cells, err := plan.Cells(loaded)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}
