package app

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

func TestAKindClusterIsATopology(t *testing.T) {
	t.Chdir(t.TempDir())
	golden.Write(t, "kind.yaml", `kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
- role: control-plane
  image: kindest/node:v1.90.1
- role: worker
  image: kindest/node:v1.89.3@sha256:0123
  labels: {tier: db}
- role: worker
  image: kindest/node:v1.88.4
kubeadmConfigPatches: ["kind: ClusterConfiguration"]
`)
	var said strings.Builder
	cell, isKind, err := kindCell(&said, "kind.yaml", release.Newest)
	if err != nil || !isKind {
		t.Fatal(isKind, err)
	}
	want := record.Topology{Version: "v1.90.1", ControllerManager: true, Scheduler: true, Nodes: []record.Node{
		{Name: "control-plane", Version: "v1.90.1"}, {Name: "worker", Version: "v1.89.3"}, {Name: "worker2", Version: "v1.88.4"},
	}}
	if diff := cmp.Diff(want, cell.Topology); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if want := "ignored, a rig does not support it: kubeadmConfigPatches, nodes[1].labels"; !strings.Contains(said.String(), want) {
		t.Errorf("%q does not say %q", said.String(), want)
	}
}

func TestAKindClusterThatNoRigCanPlay(t *testing.T) {
	t.Chdir(t.TempDir())
	golden.Write(t, "kind.yaml", `kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
featureGates: {GRPCContainerProbeTLS: true}
nodes:
- role: control-plane
- role: control-plane
- role: worker
  image: kindest/node:v1.36.0
- role: worker
  image: example.com/mine:latest
- role: worker
  image: kindest/node:v1.31.0
`)
	_, _, err := kindCell(io.Discard, "kind.yaml", release.Newest)
	if err == nil {
		t.Fatal("no error")
	}
	for _, wanted := range []string{"kind.yaml", "2 nodes have the role control-plane", "v1.36.0 has no feature gate", "nodes[3]", "example.com/mine", "v1.31.0 with a control plane"} {
		if !strings.Contains(err.Error(), wanted) {
			t.Errorf("%q does not say %q", err, wanted)
		}
	}
	golden.Write(t, "scenario.yaml", scenario)
	if _, isKind, err := kindCell(io.Discard, "scenario.yaml", release.Newest); isKind || err != nil {
		t.Errorf("a scenario was taken for a kind cluster: %v, %v", isKind, err)
	}
}
