package fit_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/lint"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// begin is the beginning of scenarios: a node, and a pod on it.
const begin = `
apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/web/up
title: It is up
`

// topology and steps are those of a cell that fits.
const (
	topology = "topology: {controlPlane: {version: v1.90.1, gates: {A: true}}, nodes: [{name: node-a, version: v1.90.1, gates: {A: true}}]}\n"
	steps    = `steps:
- apply: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: app, image: busybox}]}}
- checks: [{id: up, observe: 'containers["web/app"].restarts', is: 0, always: {for: 1s}}]
`
)

func cellOf(t *testing.T, text string) plan.Cell {
	t.Helper()
	files, err := action.Load(fstest.MapFS{"s.yaml": {Data: []byte(text)}}, []string{"s.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	cells, err := plan.Cells(files)
	if err != nil {
		t.Fatal(err)
	}
	cell := cells[0]
	if cell.Topology, err = lint.Needs(cell); err != nil {
		t.Fatal(err)
	}
	return cell
}

func on(set release.Gates) facts.Gates { return facts.Gates{Set: set} }

// cluster is one on which the cell fits.
func cluster(change func(*facts.Cluster)) facts.Cluster {
	c := facts.Cluster{
		Version: "v1.90.2-gke.100", Emulated: "v1.90", Gates: on(release.Gates{"A": true, "B": false}),
		Nodes: []facts.Node{{Name: "ip-1", Version: "v1.90.0", Gates: on(release.Gates{"A": true})}},
	}
	if change != nil {
		change(&c)
	}
	return c
}

// TestTheCluster: what of a cluster keeps a cell from running there.
func TestTheCluster(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change  func(*facts.Cluster)
		reasons []string
	}{
		{nil, nil},
		{func(c *facts.Cluster) { c.Version = "v1.89.3" }, []string{"it wants an API server of v1.90, and the cluster's is v1.89.3", "the cluster's API server emulates v1.90"}},
		{func(c *facts.Cluster) { c.Gates.Set["A"] = false }, []string{"the cluster's API server has A=false, and is to have true"}},
		{func(c *facts.Cluster) { delete(c.Gates.Set, "A") }, []string{"the cluster's API server knows no gate A"}},
		{func(c *facts.Cluster) { c.Gates = facts.Gates{Unread: "why"} }, []string{"the cluster's API server is to have A=true, and its gates can't be read: why"}},
		{func(c *facts.Cluster) { c.Nodes = nil }, []string{"no node of the cluster is free to be node-a, which wants a kubelet of v1.90 with A=true: there is none"}},
		{func(c *facts.Cluster) {
			other := c.Nodes[0]
			c.Nodes[0].Version = "v1.89.3"
			not, named, gate := other, other, other
			not.Unusable, named.Name, gate.Gates = "not ready", "web", on(nil)
			c.Nodes = append(c.Nodes, not, named, gate, gate)
		}, []string{"no node of the cluster is free to be node-a, which wants a kubelet of v1.90 with A=true: 1 runs v1.89.3, 1 is not ready, 1 has a name that the scenario uses for something else, 2 knows no gate A"}},
	} {
		got := (fit.Use{}).Of(cellOf(t, begin+topology+steps), cluster(c.change), nil)
		if diff := cmp.Diff(c.reasons, got.Reasons); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if len(got.Reasons) == 0 && got.Nodes["node-a"].Name != "ip-1" {
			t.Errorf("node-a is %q", got.Nodes["node-a"].Name)
		}
	}
}

// TestNodesAreMatched: a node is left to the one that has no other, and one of the same name is
// preferred.
func TestNodesAreMatched(t *testing.T) {
	t.Parallel()
	text := begin + "topology: {controlPlane: {version: v1.90.1}, nodes: [{name: node-a, version: v1.90.1}, {name: node-b, version: v1.90.1, gates: {A: true}}]}\n" + steps
	is := cluster(func(c *facts.Cluster) {
		c.Nodes = []facts.Node{
			{Name: "ip-1", Version: "v1.90.1", Gates: on(release.Gates{"A": true})},
			{Name: "ip-2", Version: "v1.90.1", Gates: on(release.Gates{"A": false})},
		}
	})
	got := (fit.Use{}).Of(cellOf(t, text), is, nil)
	if got.Nodes["node-a"].Name != "ip-2" || got.Nodes["node-b"].Name != "ip-1" {
		t.Errorf("%v %v", got.Nodes, got.Reasons)
	}
	is.Nodes[0].Name, is.Nodes[1].Name = "node-b", "node-a"
	if got = (fit.Use{}).Of(cellOf(t, text), is, nil); got.Nodes["node-a"].Name != "node-a" || got.Nodes["node-b"].Name != "node-b" {
		t.Errorf("%v %v", got.Nodes, got.Reasons)
	}
	is.Nodes = is.Nodes[:1]
	want := "no node of the cluster is free to be node-a, which wants a kubelet of v1.90: 1 has a name that the scenario uses for something else"
	if got = (fit.Use{}).Of(cellOf(t, text), is, nil); got.Reason() != want {
		t.Errorf("%q, want %q", got.Reason(), want)
	}
}

// TestTheScenario: what of a scenario keeps its cells from running on any cluster.
func TestTheScenario(t *testing.T) {
	t.Parallel()
	pod := "- apply: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeName: node-a, containers: [{name: app, image: busybox}]}}\n"
	observe := func(expression string) string {
		return topology + "steps:\n" + pod + "- checks: [{id: c, observe: '" + expression + "', is: 0}]\n"
	}
	step := func(text string) string { return topology + "steps:\n" + pod + text + "\n- wait: {for: 1s}\n" }
	for text, want := range map[string][]string{
		topology + steps: nil,
		strings.Replace(topology, "gates: {A: true}}, nodes", "scheduler: false}, nodes", 1) + steps:                           {"it wants Pod web to stay without a node, and a cluster has a scheduler (step 1)"},
		strings.Replace(topology, "gates: {A: true}}]", "runtimeHandlers: {names: [other]}}]", 1) + steps:                      {"node-a has runtime handlers of its own"},
		strings.Replace(topology, "gates: {A: true}}]", "config: {maxPods: 5}}]", 1) + steps:                                   {"the kubelet of node-a has settings of its own"},
		step("- restart: {component: kubelet/node-a}\n- kill: kube-apiserver"):                                                 {"it restarts or stops components (steps 2, 3)"},
		step("- cut: {from: kubelet/node-a}"):                                                                                  {"it wants links between components that can be cut or looked into", "it cuts or changes links (step 2)"},
		step("- scrape: {component: kube-apiserver}"):                                                                          {"it reads metrics, in which all others of the cluster leave traces (step 2)"},
		step("- delete: nodes/node-a"):                                                                                         {"it changes nodes/node-a, which is not in a namespace of its own (step 2)"},
		step("- delete: pods/kube-system/a"):                                                                                   {"it writes in namespace kube-system, which is the cluster's (step 2)"},
		step("- apply: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}"):                    {"it creates ClusterRole a, which may reach outside of its namespace (step 2)"},
		step("- apply: {apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: LoadBalancer, ports: [{port: 80}]}}"): {"it creates Service a of type LoadBalancer, which reaches outside of its namespace (step 2)"},
		observe(`connections["web/app"].size()`):                                                                               {"only a rig records what servers in containers see on the wire (connections): check c"},
		observe(`containers["web/app"].execs.size()`):                                                                          {"the status of a pod does not have execs of containers: check c"},
		observe(`containers["web/app"].exits.filter(e, e.signal == "SIGTERM").size()`):                                         {"the status of a pod does not have signal of containers: check c"},
		observe(`objects["nodes/node-a"].spec.x`):                                                                              {"what is recorded of nodes is not the whole object: nodes[...] has what is: check c"},
		observe(`objects["pods/kube-system/dns"].spec.x`):                                                                      {"it reads objects of namespace kube-system, in which it has none: check c"},
		observe(`objects["clusterroles/admin"].rules.size()`):                                                                  {"it reads objects that are in no namespace: clusterroles"},
	} {
		if diff := cmp.Diff(want, fit.Use{}.Itself(cellOf(t, begin+text))); diff != "" {
			t.Errorf("%s\n-want +got:\n%s", text, diff)
		}
	}
}

// TestImages: one that a scenario has a fake server for must be there.
func TestImages(t *testing.T) {
	t.Parallel()
	text := begin + topology + "images: [{image: registry.example/web, listen: [{port: 80, protocol: http1}]}]\n" + strings.Replace(steps, "busybox", "registry.example/web:1", 1)
	why := []string{"image registry.example/web:1 is a fake server of the scenario: if the nodes can pull a real one, name it in cluster.images of --provider-config"}
	for _, c := range []struct {
		has   []string
		given []string
		want  []string
	}{
		{nil, nil, why},
		{[]string{"registry.example/web:2"}, []string{"registry.example/other"}, why},
		{[]string{"registry.example/web:1"}, nil, nil},
		{nil, []string{"registry.example/*"}, nil},
	} {
		is := cluster(func(is *facts.Cluster) { is.Nodes[0].Images = c.has })
		if diff := cmp.Diff(c.want, (fit.Use{}).Of(cellOf(t, text), is, c.given).Reasons); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	if err := fit.CheckImages([]string{"a", "B!"}); err == nil || !strings.Contains(err.Error(), "B!") {
		t.Error(err)
	}
}

// TestNothingIsForgotten: each ability that a step may need and each variable is known to this package.
func TestNothingIsForgotten(t *testing.T) {
	t.Parallel()
	for _, a := range action.Abilities() {
		if !fit.KnownAbility(a) {
			t.Errorf("whether an existing cluster has ability %d is not stated", a)
		}
	}
	for _, v := range expr.Variables() {
		if !fit.KnownVariable(v) {
			t.Errorf("it is not said whether %s is recorded of an existing cluster", v)
		}
	}
}

// TestTheCatalog: some of its cells run on a cluster of the newest release with their gates, and
// each other one says why not.
func TestTheCatalog(t *testing.T) {
	t.Parallel()
	files, err := action.Load(os.DirFS("../catalog"), []string{"kep-4939/admission-gate-on-keeps-mode.yaml", "kep-4939/e2e-tls-probe-tls-server.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	cells, err := plan.Cells(files)
	if err != nil {
		t.Fatal(err)
	}
	gate := on(release.Gates{"GRPCContainerProbeTLS": true})
	is := facts.Cluster{Version: string(release.Newest), Gates: gate, Nodes: []facts.Node{{Name: "ip-1", Version: string(release.Newest), Gates: gate}}}
	for i, can := range []bool{true, false} {
		if got := (fit.Use{}).Of(cells[i], is, nil); (len(got.Reasons) == 0) != can {
			t.Errorf("%s: %q", cells[i].ID, got.Reasons)
		}
	}
}

// TestAccesses: what a user must be permitted to do.
func TestAccesses(t *testing.T) {
	t.Parallel()
	text := begin + topology + "steps:\n- apply: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: app, image: busybox}]}}\n- patch: {object: pods/web, subresource: resize, merge: {spec: {}}}\n- delete: pods/web\n- wait: {for: 1s}\n"
	var got []string
	for _, a := range (fit.Use{}).Accesses([]plan.Cell{cellOf(t, text)}) {
		if strings.HasPrefix(a.Resource, "pods") {
			got = append(got, a.Verb+" "+a.Resource)
		}
	}
	if diff := cmp.Diff([]string{"create pods", "delete pods", "list pods", "watch pods", "patch pods/resize"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestAPatchReleaseThatIsNamed: others of its minor version are not what the scenario asks for.
func TestAPatchReleaseThatIsNamed(t *testing.T) {
	t.Parallel()
	newest, named := string(release.Previous), string(release.Previous)+"0"
	for _, c := range []struct {
		wanted, runs string
		want         []string
	}{
		{newest, named, nil},
		{named, named + "-gke.100", nil},
		{named, newest, []string{"it wants an API server of " + named + ", and the cluster's is " + newest, "no node of the cluster is free to be node-a, which wants a kubelet of " + named + ": 1 runs " + newest}},
	} {
		cell := cellOf(t, begin+"topology: {controlPlane: {version: "+c.wanted+"}, nodes: [{name: node-a, version: "+c.wanted+"}]}\n"+steps)
		is := facts.Cluster{Version: c.runs, Nodes: []facts.Node{{Name: "ip-1", Version: c.runs}}}
		if diff := cmp.Diff(c.want, fit.Use{}.Of(cell, is, nil).Reasons); diff != "" {
			t.Errorf("%s on %s: -want +got:\n%s", c.wanted, c.runs, diff)
		}
	}
}
