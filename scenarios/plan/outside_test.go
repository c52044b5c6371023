package plan_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

const outsideScenario = `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/host/outside
title: Each step uses the node that its pod runs on
axes: {dir: [a, b]}
topology:
  controlPlane:
    version: v1.90.1
    flags:
      etcd: {log-outputs: "stderr,/${dir}"}
    servers:
    - {name: a, flags: {audit-log-path: /a}}
  nodes:
  - {name: node-a, version: v1.90.1, config: {imageCredentialProviderBinDir: "${dir}", maxPods: 3}}
steps:
- apply:
    apiVersion: v1
    kind: Pod
    metadata: {name: a}
    spec:
      hostPID: true
      hostNetwork: false
      volumes: [{name: root, hostPath: {path: /}}, {name: none, emptyDir: {}}]
      containers:
      - name: app
        image: app
        securityContext: {privileged: true, capabilities: {add: [NET_BIND_SERVICE, SYS_ADMIN]}}
- patch: {object: deployments/a, merge: {spec: {template: {spec: {hostIPC: true}}}}}
- staticPod: {node: node-a, pod: {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {hostNetwork: true, containers: [{name: app, image: app}]}}}
- webhook: {name: w, rules: [{operations: [CREATE], resources: [pods]}], patch: [{op: add, path: /spec/hostPID, value: true}]}
- kubectl: {version: v1.90.1, args: [patch, pod/a, -p, 'spec: {hostNetwork: true}']}
- kubectl: {version: v1.90.1, args: [run, a, '--overrides={"spec":{"hostIPC":true}}', --image=app]}
- kubectl: {version: v1.90.1, args: [run, a, --privileged, --image=app]}
- kubectl: {version: v1.90.1, args: [debug, node/node-a, --image=app]}
- file: pods.yaml
- restart: {component: kubelet/node-a, flags: {volume-plugin-dir: x}, config: {tracing: {endpoint: "a:1"}}}
`

const outsideManifest = `apiVersion: v1
kind: PersistentVolume
metadata: {name: a}
spec: {local: {path: /mnt}}
`

func TestOutside(t *testing.T) {
	t.Parallel()
	files, err := action.Load(fstest.MapFS{
		"mine.yaml": {Data: []byte(outsideScenario)}, "pods.yaml": {Data: []byte(outsideManifest)},
	}, []string{"mine.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	cells, err := plan.Cells(files)
	if err != nil {
		t.Fatal(err)
	}
	settings := func(dir string) []string {
		return []string{`mine.yaml:10:27: etcd: log-outputs: "stderr,/` + dir + `" is not`, `mine.yaml:12:41: kube-apiserver: audit-log-path: "/a" is not`, `mine.yaml:14:78: kubelet: imageCredentialProviderBinDir: "` + dir + `" is not`}
	}
	pods := []string{
		"mine.yaml:21:16: hostPID", "mine.yaml:23:40: hostPath: /:", "mine.yaml:27:39: privileged", "mine.yaml:27:59: capabilities: SYS_ADMIN",
		"mine.yaml:28:", "mine.yaml:29:", "mine.yaml:30:", "mine.yaml:31:", "mine.yaml:32:", "mine.yaml:33:", "mine.yaml:34:", "mine.yaml:35:9: local: /mnt",
	}
	restart := []string{"mine.yaml:36:67: kubelet: volume-plugin-dir", "mine.yaml:36:100: kubelet: tracing.endpoint"}
	checkOutside(t, plan.OutsideOf(cells[:1], false), slices.Concat(settings("a"), restart))
	checkOutside(t, plan.OutsideOf(cells, false), slices.Concat(settings("a"), restart, []string{settings("b")[0], settings("b")[2]}))
	checkOutside(t, plan.OutsideOf(cells[:1], true), slices.Concat(settings("a"), pods, restart))
	cells[1].Topology.Nodes[0].Runtime = record.Containerd
	checkOutside(t, plan.OutsideOf(cells[1:], false), slices.Concat(settings("b"), pods, restart))
}

// TestOutsideOfSimulatedNodes: what real components do with this machine is outside on simulated nodes, too.
func TestOutsideOfSimulatedNodes(t *testing.T) {
	t.Parallel()
	const scenario = `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/host/components
title: Each step has a component reach beyond the rig
topology:
  controlPlane: {version: v1.90.1}
  nodes: [{name: node-a, version: v1.90.1}]
steps:
- apply:
    apiVersion: v1
    kind: Pod
    metadata: {name: a}
    spec:
      containers:
      - {name: app, image: app, livenessProbe: {httpGet: {port: 80, host: 127.1.1.1.example.com}}}
      - {name: b, image: app, readinessProbe: {tcpSocket: {port: 80, host: ""}}, startupProbe: {httpGet: {port: 80, host: 127.0.0.1}}}
      - {name: c, image: app, lifecycle: {preStop: {httpGet: {port: 80, host: example.com}}}}
- webhook: {name: w, rules: [{operations: [CREATE], resources: [pods]}], patch: [{op: add, path: /spec/containers/0/livenessProbe/tcpSocket/host, value: 10.0.0.1}]}
- patch: {object: persistentvolumes/a, merge: {spec: {persistentVolumeReclaimPolicy: Delete}}}
- patch: {object: persistentvolumes/a, merge: {spec: {persistentVolumeReclaimPolicy: Retain}}}
- patch: {object: validatingwebhookconfigurations/a, merge: {webhooks: [{name: a.b.c, clientConfig: {url: "https://127.0.0.1:1/"}}]}}
- patch: {object: seed/secrets/shoot/probe, merge: {stringData: {kubeconfig: 'users: [{name: a, user: {exec: {command: /bin/sh}}}]'}}}
- patch: {object: seed/secrets/shoot/probe, merge: {data: {kubeconfig: dXNlcnM6IFt7bmFtZTogYSwgdXNlcjoge2V4ZWM6IHtjb21tYW5kOiAvYmluL3NofX19XQo=}}}
- apply: {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: ExternalName, externalName: example.com}}
- apply:
    apiVersion: rbac.authorization.k8s.io/v1
    kind: ClusterRoleBinding
    metadata: {name: a}
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
    subjects: [{kind: Group, name: system:unauthenticated}]
- kubectl: {version: v1.90.1, args: [patch, pv, a, '-p{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}']}
- kubectl: {version: v1.90.1, args: [exec, a, --, sh, -c, 'echo {"exec": {"command": ["a"]}}']}
- patch: {object: nodes/a, merge: {status: {addresses: [{type: Hostname, address: a.example}, {type: InternalIP, address: 192.0.2.2}]}}}
- patch: {object: nodes/a, merge: {status: {addresses: [{type: InternalIP, address: 127.0.0.1}, {type: InternalIP, address: 240.0.0.1}, {type: ExternalIP, address: 192.0.2.2}]}}}
- patch: {object: pods/a, subresource: status, merge: {status: {podIP: 192.0.2.2, podIPs: [{ip: 127.0.0.1}, {ip: "2001:db8::1"}]}}}
`
	files, err := action.Load(fstest.MapFS{"mine.yaml": {Data: []byte(scenario)}}, []string{"mine.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	cells, err := plan.Cells(files)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"mine.yaml:15:58: httpGet.host: 127.1.1.1.example.com: the kubelet", "mine.yaml:17:62: httpGet.host: example.com: the kubelet",
		"mine.yaml:18:", "mine.yaml:19:", "mine.yaml:21:", "mine.yaml:22:78: exec: /bin/sh: a client with", "mine.yaml:23:",
		"mine.yaml:24:104: externalName: example.com", "mine.yaml:30:15: subjects: system:unauthenticated", "mine.yaml:31:",
		"mine.yaml:33:56: addresses: 192.0.2.2: the API server", "mine.yaml:35:", "mine.yaml:35:",
	}
	checkOutside(t, plan.OutsideOf(cells, false), want)
	checkOutside(t, plan.OutsideOf(cells, true), want)
}

// checkOutside compares the beginnings of lines, in their order.
func checkOutside(t *testing.T, got []plan.Outside, want []string) {
	t.Helper()
	var lines []string
	for _, o := range got {
		lines = append(lines, o.Place+": "+o.Text)
	}
	if len(lines) != len(want) {
		t.Fatalf("%d, want %d:\n%s", len(lines), len(want), strings.Join(lines, "\n"))
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("%d: %s\nwant %s", i, line, want[i])
		}
	}
}
