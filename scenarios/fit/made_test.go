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
	for text, want := range map[string][]string{
		step("- restart: {component: kubelet/node-a, version: v1.89.3, unset: [A]}"):                                            nil,
		step("- stop: kubelet/node-a\n- start: {component: kubelet/node-a}"):                                                    nil,
		step("- kill: kubelet/node-a"):                                                                                          nil,
		step("- scrape: {component: kube-apiserver}\n- log: {component: kubelet/node-a, match: x}"):                             nil,
		observe(`connections["web/app"].size()`):                                                                                nil,
		observe(`containers["web/app"].exits.filter(e, e.signal == "SIGTERM").size()`):                                          nil,
		observe(`objects["nodes/node-a"].status.capacity.size()`):                                                               nil,
		step("- restart: {component: kube-apiserver}"):                                                                          {"it restarts or stops components (step 2)"},
		step("- restart: {component: kubelet/node-a, config: {maxPods: 5}}"):                                                    {"it restarts or stops components (step 2)"},
		step("- stop: {component: kubelet/node-a, within: 5s}"):                                                                 {"it restarts or stops components (step 2)", "only a rig records processes of components (components): check 2-ended"},
		step("- log: {component: kube-apiserver, match: x}"):                                                                    {"it reads logs of components (step 2)"},
		step("- delete: pods/kube-system/a"):                                                                                    {"it writes in namespace kube-system, which is the cluster's (step 2)"},
		strings.Replace(topology, "gates: {A: true}}]", "config: {maxPods: 5}}]", 1) + "steps:\n" + pod + "- wait: {for: 1s}\n": {"the kubelet of node-a has settings of its own"},
		observe(`components["kubelet/node-a"].running ? 1 : 0`):                                                                 {"only a rig records processes of components (components): check c"},
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
		{func(c *facts.Cluster) { c.Nodes[0].Gates = on(release.Gates{"A": false}) }, []string{"node-a has A=false, and is to have true"}},
		{func(c *facts.Cluster) { c.Nodes[0].Version = "v1.89.3" }, []string{"node-a runs v1.89.3"}},
		{func(c *facts.Cluster) { c.Nodes[0].Unusable = "not ready" }, []string{"node-a is not ready"}},
		{func(c *facts.Cluster) { c.Nodes[0].Name = "ip-1" }, []string{"node-a is not there"}},
	} {
		is := cluster(func(is *facts.Cluster) { is.Nodes[0].Name = "node-a" })
		if c.change != nil {
			c.change(&is)
		}
		got := fit.OfMade(cell, is)
		if diff := cmp.Diff(c.want, got.Reasons); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if len(c.want) == 0 && got.Nodes["node-a"].Name != "node-a" {
			t.Errorf("its nodes are %v", got.Nodes)
		}
	}
}
