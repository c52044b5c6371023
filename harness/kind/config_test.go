package kind

import (
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
)

// TestClusterConfig: gates are each component's own, and reach no other kubelet by kind's
// featureGates.
func TestClusterConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Config{
		"bare": {
			Bare: true, dir: "/run-1/1",
			ControlPlane: Node{Image: "skewrig-node:v1.90.1", Gates: release.Gates{"B": false, "A": true}},
			Nodes:        []Node{{Name: "node-a", Image: "skewrig-node:v1.90.1", Gates: release.Gates{"A": true}}, {Name: "node-b", Image: "skewrig-node:v1.89.3"}, {Name: "node-c", Image: "skewrig-node:v1.91.0", Newer: true}},
		},
		"released": {dir: "/run-1/2", ControlPlane: Node{Image: "kindest/node:v1.90.1"}, Nodes: []Node{{Name: "node-a", Image: "kindest/node:v1.90.1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := clusterConfig(c)
			if err != nil {
				t.Fatal(err)
			}
			text, err := yaml.Marshal(config)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", name+".yaml"), string(text))
		})
	}
}

func TestKubeletConfig(t *testing.T) {
	t.Parallel()
	const is = "apiVersion: kubelet.config.k8s.io/v1beta1\n"
	for _, c := range []struct {
		want   string
		gates  release.Gates
		config map[string]any
	}{
		{want: is + "kind: KubeletConfiguration\n"},
		{want: is + "featureGates:\n  A: true\n  B: false\nkind: KubeletConfiguration\n", gates: release.Gates{"B": false, "A": true}},
		{want: is + "kind: KubeletConfiguration\nmaxPods: 5\n", config: map[string]any{"maxPods": 5}},
	} {
		if got, err := kubeletConfig(c.gates, c.config); err != nil || string(got) != c.want {
			t.Errorf("%v: %q, %v", c, got, err)
		}
	}
}

func TestWorkerName(t *testing.T) {
	t.Parallel()
	if a, b := workerName("c", 0), workerName("c", 1); a != "c-worker" || b != "c-worker2" {
		t.Errorf("%s, %s", a, b)
	}
}
