package fit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/fit"
)

// TestAMadeCluster: what cells may do on a cluster that was made for them, and not on others.
func TestAMadeCluster(t *testing.T) {
	t.Parallel()
	pod := "- apply: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeName: node-a, containers: [{name: app, image: busybox}]}}\n"
	observe := func(expression string) string {
		return topology + "steps:\n" + pod + "- checks: [{id: c, observe: '" + expression + "', is: 0}]\n"
	}
	step := func(text string) string { return topology + "steps:\n" + pod + text + "\n- wait: {for: 1s}\n" }
	withNode := func(settings string) string {
		return strings.Replace(topology, "gates: {A: true}}]", settings+"}]", 1) + "steps:\n" + pod + "- wait: {for: 1s}\n"
	}
	for text, want := range map[string][]string{
		step("- restart: {component: kubelet/node-a, version: v1.89.3, unset: [A]}"):                                       nil,
		step("- stop: kubelet/node-a\n- start: {component: kubelet/node-a}"):                                               nil,
		step("- kill: kubelet/node-a"):                                                                                     nil,
		step("- scrape: {component: kube-apiserver}\n- log: {component: kubelet/node-a, match: x}"):                        nil,
		step("- restart: {component: kube-apiserver, version: v1.89.3, unset: [A]}"):                                       nil,
		step("- stop: kube-scheduler\n- kill: kube-controller-manager\n- start: {component: kube-scheduler}"):              nil,
		step("- restart: {component: kube-apiserver, flags: {profiling: 'false'}, emulatedVersion: v1.89}"):                nil,
		step("- roll: {gates: {A: false}}"):                                                                                nil,
		step("- get: {path: /version}\n- get: {component: kubelet/node-a, path: /configz}"):                                nil,
		step("- staticPod: {node: node-a, pod: {kind: Pod, apiVersion: v1, metadata: {name: a}}}"):                         nil,
		observe(`connections["web/app"].size()`):                                                                           nil,
		observe(`containers["web/app"].exits.filter(e, e.signal == "SIGTERM").size()`):                                     nil,
		observe(`objects["nodes/node-a"].status.capacity.size()`):                                                          nil,
		observe(`["kube-apiserver", "kubelet/node-a"].all(n, components[n].running) ? 1 : 0`):                              nil,
		observe(`components["kubelet/node-a"].exits.size()`):                                                               nil,
		strings.Replace(topology, "gates: {A: true}}, nodes", "scheduler: false}, nodes", 1) + steps:                       nil,
		step("- apply: {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}}"):                                nil,
		step("- apply: {apiVersion: v1, kind: PersistentVolume, metadata: {name: a}}"):                                     {"it creates PersistentVolume a, which may reach outside of its namespace (step 2)"},
		step("- restart: {component: etcd}"):                                                                               {"it restarts or stops components (step 2)"},
		step("- restart: {component: kubelet/node-a, config: {maxPods: 5}}"):                                               nil,
		step("- restart: {component: kubelet/node-a, flags: {v: '4'}}"):                                                    {"it restarts or stops components (step 2)"},
		step("- restart: {component: kube-scheduler, config: {parallelism: 5}}"):                                           {"it restarts or stops components (step 2)"},
		step("- stop: {component: kubelet/node-a, within: 5s}"):                                                            {"it restarts or stops components (step 2)"},
		step("- log: {component: kube-apiserver, match: x}"):                                                               {"it reads logs of components (step 2)"},
		step("- staticPod: {node: node-a, pod: {kind: Pod, apiVersion: v1, metadata: {name: a, namespace: kube-system}}}"): {"it writes in namespace kube-system, which is the cluster's (step 2)"},
		step("- delete: pods/kube-system/a"):                                                                               {"it writes in namespace kube-system, which is the cluster's (step 2)"},
		withNode("config: {maxPods: 5}"):                                                                                   nil,
		withNode("config: {logging: {flushFrequency: null}}"):                                                              {"the kubelet of node-a has settings of its own"},
		withNode("flags: {v: '4'}"):                                                                                        {"the kubelet of node-a has settings of its own"},
		observe(`components["kubelet/node-a"].pid`):                                                                        {"only a rig knows the pid of components: check c"},
		observe(`components["etcd"].restarts`):                                                                             {"only a rig records the processes of etcd: check c"},
		observe(`["etcd"].all(n, components[n].running) ? 1 : 0`):                                                          {"only a rig records the processes of etcd: check c"},
	} {
		if diff := cmp.Diff(want, fit.Made.Itself(cellOf(t, begin+text))); diff != "" {
			t.Errorf("%s\n-want +got:\n%s", text, diff)
		}
	}
}

// TestOfMade: a cluster that is not what was to be made is no ground for a cell.
func TestOfMade(t *testing.T) {
	t.Parallel()
	cell := cellOf(t, begin+topology+steps)
	for _, c := range []struct {
		change func(*facts.Cluster)
		want   []string
	}{
		{nil, nil},
		{func(c *facts.Cluster) { c.Gates.Set["A"] = false }, []string{"the cluster's API server has A=false, and is to have true"}},
		{func(c *facts.Cluster) { c.Controllers[0].Version = "v1.89.3" }, []string{"it wants a kube-controller-manager of v1.90, and the cluster's is v1.89.3"}},
		{func(c *facts.Cluster) { c.Controllers[1].Gates = on(release.Gates{"A": false}) }, []string{"the cluster's kube-scheduler has A=false, and is to have true"}},
		{func(c *facts.Cluster) { c.Controllers = c.Controllers[:1] }, []string{"the release and the gates of the cluster's kube-scheduler are not known"}},
		{func(c *facts.Cluster) { c.Nodes[0].Gates = on(release.Gates{"A": false}) }, []string{"node-a has A=false, and is to have true"}},
		{func(c *facts.Cluster) { c.Nodes[0].Version = "v1.89.3" }, []string{"node-a runs v1.89.3"}},
		{func(c *facts.Cluster) { c.Nodes[0].Unusable = "not ready" }, []string{"node-a is not ready"}},
		{func(c *facts.Cluster) { c.Nodes[0].Name = "ip-1" }, []string{"node-a is not there"}},
	} {
		is := cluster(func(is *facts.Cluster) {
			is.Nodes[0].Name = "node-a"
			for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
				is.Controllers = append(is.Controllers, facts.Component{Name: name, Version: "v1.90.2", Gates: on(release.Gates{"A": true})})
			}
		})
		if c.change != nil {
			c.change(&is)
		}
		got := fit.OfMade(cell.Topology, is)
		if diff := cmp.Diff(c.want, got.Reasons); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if len(c.want) == 0 && got.Nodes["node-a"].Name != "node-a" {
			t.Errorf("its nodes are %v", got.Nodes)
		}
	}
}

// TestKubeletOfMade: a kubelet is what was to run, whatever its node is ready for.
func TestKubeletOfMade(t *testing.T) {
	t.Parallel()
	wanted := cellOf(t, begin+topology+steps).Topology.Nodes[0]
	for want, change := range map[string]func(*facts.Node){
		"":                                 func(n *facts.Node) { n.Unusable = "tainted" },
		"runs v1.88.0":                     func(n *facts.Node) { n.Version = "v1.88.0" },
		"has A=false, and is to have true": func(n *facts.Node) { n.Gates = on(release.Gates{"A": false}) },
		"is not there":                     func(n *facts.Node) { n.Name = "ip-1" },
	} {
		is := cluster(func(c *facts.Cluster) {
			c.Nodes[0].Name = wanted.Name
			change(&c.Nodes[0])
		})
		if _, why := fit.KubeletOfMade(wanted, is); why != want {
			t.Errorf("it %s, want that it %s", why, want)
		}
	}
}

// TestControlPlanesThatCanBeMade: one of each program, each of its own release, and no more.
func TestControlPlanesThatCanBeMade(t *testing.T) {
	t.Parallel()
	const nodes = "nodes: [{name: node-a, version: v1.89.3}]}\n"
	for control, want := range map[string][]string{
		"{servers: [{name: a, version: v1.90.1}], controllerManagers: [{name: a, version: v1.89.3}]}":                       nil,
		"{servers: [{version: v1.90.1, name: a}, {version: v1.90.1, name: b}], controllerManager: false, scheduler: false}": {"it wants a control plane of its own: kube-apiserver/a v1.90.1, kube-apiserver/b v1.90.1"},
	} {
		text := begin + "topology: {controlPlane: " + control + ", " + nodes + steps
		if diff := cmp.Diff(want, fit.Made.Itself(cellOf(t, text))); diff != "" {
			t.Errorf("%s\n-want +got:\n%s", text, diff)
		}
	}
}

// TestAbsent: a component is to be absent if it would do something.
func TestAbsent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"- apply: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: node-a, containers: []}}": nil,
		"- apply: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: []}}":                   {"kube-scheduler"},
		"- apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {nodeName: node-a, containers: [{name: app, image: busybox}]}}}}": {"kube-controller-manager"},
		"- stop: kubelet/node-a\n- start: {component: kubelet/node-a}": {"kube-controller-manager"},
		"- kill: kubelet/node-a":                 {"kube-controller-manager"},
		"- restart: {component: kubelet/node-a}": {"kube-controller-manager"},
		"- roll: {gates: {A: false}}":            {"kube-controller-manager"},
		"- restart: {component: kube-apiserver}": nil,
	} {
		none := strings.Replace(topology, "gates: {A: true}}, nodes", "controllerManager: false, scheduler: false}, nodes", 1)
		if diff := cmp.Diff(want, fit.Absent(cellOf(t, begin+none+"steps:\n"+text+"\n- wait: {for: 1s}\n"))); diff != "" {
			t.Errorf("%s\n-want +got:\n%s", text, diff)
		}
		if all := fit.Absent(cellOf(t, begin+topology+"steps:\n"+text+"\n- wait: {for: 1s}\n")); len(all) > 0 {
			t.Errorf("%s: %v", text, all)
		}
	}
}

// TestAlone: who changes or reads what others share has a cluster alone.
func TestAlone(t *testing.T) {
	t.Parallel()
	pod := "- apply: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeName: node-a, containers: [{name: app, image: busybox}]}}\n"
	for _, step := range []string{
		"restart: {component: kubelet/node-a}", "roll: {gates: {A: false}}", "stop: kubelet/node-a", "kill: kube-scheduler", "scrape: {component: kube-apiserver}",
		"log: {component: kubelet/node-a, match: x}", "get: {path: /version}", "staticPod: {node: node-a, remove: a}",
		"apply: {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}}",
	} {
		if !fit.Alone(cellOf(t, begin+topology+"steps:\n"+pod+"- "+step+"\n- wait: {for: 1s}\n")) {
			t.Errorf("%s: not alone", step)
		}
	}
	if fit.Alone(cellOf(t, begin+topology+"steps:\n"+pod+"- wait: {for: 1s}\n")) {
		t.Error("a pod is the cell's own")
	}
	without := strings.Replace(topology, "gates: {A: true}}, nodes", "scheduler: false}, nodes", 1)
	if !fit.Alone(cellOf(t, begin+without+steps)) {
		t.Error("there is to be no scheduler")
	}
}
