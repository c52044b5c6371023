package main

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
)

// eachKind has a mistake of each kind, and none makes another part of the file unknown. The comment at the end of a line
// is what the errors of that line say, in their order.
const eachKind = `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/kinds # is not an id of three segments
title: A mistake of each kind
axes:
  kubelet: [newest, previous]
  unused: [a] # refers to ${unused}
topology:
  controlPlane:
    gates:
      GRPCContainerProbeTls: true # release has a feature gate
  nodes:
  - {name: node-a, version: "${kubelet}"}
  - name: node-b
    version: v1.37.99 # Kubernetes v1.37.99 does not exist
  - name: node_c # can't name a node
    flags:
      v: "2"
      cert-dir: /etc # cert-dir
      log-file: /etc/x # outside of the rig
steps:
- apply:
    apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec:
      nodeNmae: node-a # has no field "nodeNmae" here
      containers:
      - name: app
        image: registry.example/none # nothing plays image
- apply:
    apiVersion: apps/v1
    kind: Deploymnt # no release has a kind Deploymnt
    metadata: {name: web}
- restart:
    component: kube-apiservre # has no component
- wait:
    until: 'pods.size( > 0' # syntax: '>' can't stand here
- when: kubelet => 1.37 # is not a comparison
  delete: pods/default/web
- checks:
  - id: a
    observe: 'objects["pods/default/web"].spec.nodeNam' # undefined field 'nodeNam'
    is: x
  - id: b
    requirement: KEP-4939/no/such # no ledger has requirement
    observe: 'podz.size()' # undeclared reference to 'podz'
    is: 0
  - id: c
    observe: 'pods["default/wbe"].status.phase' # is no pod of this scenario
    is: Running
  - id: d
    observe: 'objects["pdos/default/web"].metadata.name' # of no resource
    is: web
  - id: e
    when: gate # is not a comparison
    observe: 'size(pods)'
    is: 0
  - id: f
    observe: 'size(components)' # it reads which components the rig started
    is: "3"
`

// halfDecoded has mistakes that leave parts of the file unknown, and a mistake of each kind in others.
const halfDecoded = `apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/kinds/half
title: Parts that can't be decoded
topology:
  controlPlane: {gates: {
    GRPCContainerProbeTls: true}} # release has a feature gate
  nodes:
  - {name: node-a,
    version: v1.37.99, # Kubernetes v1.37.99 does not exist
    flags: {
    v: 2}} # must be text
images:
- image: registry.example/shop
  listen: [{port: 80,
    protocol: http9}] # "http9" is unknown
steps:
- apply:
    apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec:
      nodeNmae: node-a # has no field "nodeNmae" here
- cut:
    from: kubelet/node-a
    hows: now # unknown field "hows"
- file: gone.yaml # there is no such file
- wait:
    until: 'pods.size( > 0' # syntax: '>' can't stand here
    within: -3s # is negative
- restart:
    component: kube-apiservre # has no component
- checks:
  - id: a
    observe: 'podz.size()' # undeclared reference to 'podz'
    evntually: 3s # unknown field "evntually"
    is: 0
  - id: b
    requirement: KEP-4939/no/such # no ledger has requirement
    observe: 'objects["pods/default/web"].spec.nodeNam' # undefined field 'nodeNam'
    is: x
`

var problemAt = regexp.MustCompile(`^(?:skewrig: )?mine\.yaml:(\d+):(\d+): (.*)$`)

// TestAllProblemsOfAFileAtOnce in the order of the file, whatever finds them.
func TestAllProblemsOfAFileAtOnce(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }))
	defer proxy.Close()
	t.Setenv("GOPROXY", proxy.URL)
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"each kind": eachKind, "half decoded": halfDecoded} {
		golden.Write(t, "mine.yaml", text)
		for _, command := range [][]string{{"run", "--dry-run"}, {"run"}} {
			code, stdout, stderr := skewrig(t, append(command, "mine.yaml")...)
			if code != exitUsage || stdout != "" {
				t.Errorf("%s, %s: exit code %d, printed %q", name, command, code, stdout)
			}
			found := make(map[int]string)
			last := [2]int{}
			for line := range strings.Lines(stderr) {
				parts := problemAt.FindStringSubmatch(strings.TrimSpace(line))
				if parts == nil {
					if !strings.Contains(line, "--allow-host") {
						t.Errorf("%s, %s: a line without a place: %s", name, command, line)
					}
					continue
				}
				row, _ := strconv.Atoi(parts[1])
				column, _ := strconv.Atoi(parts[2])
				if at := [2]int{row, column}; at[0] < last[0] || at[0] == last[0] && at[1] < last[1] {
					t.Errorf("%s, %s: line %d comes after line %d", name, command, row, last[0])
				} else {
					last = at
				}
				found[row] += parts[3] + "\n"
			}
			for i, line := range strings.Split(text, "\n") {
				_, want, _ := strings.Cut(line, " # ")
				if got := found[i+1]; !strings.Contains(got, want) || (got == "") != (want == "") {
					t.Errorf("%s, %s: line %d: %q, want %q", name, command, i+1, got, want)
				}
			}
		}
	}
}
