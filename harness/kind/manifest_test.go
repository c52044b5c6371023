package kind

import (
	"path/filepath"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
)

// kubeadms is a manifest as kubeadm writes them, of which the kubelet has fields that skewrig need not know.
const kubeadms = `apiVersion: v1
kind: Pod
metadata:
  annotations: {kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: "172.18.0.2:6443"}
  name: kube-apiserver
  namespace: kube-system
spec:
  containers:
  - command: [kube-apiserver, --feature-gates=Old=true, --profiling=true, --secure-port=6443]
    image: registry.example:5000/kube-apiserver:v1.90.1
    name: kube-apiserver
    newer: {field: 1}
  hostNetwork: true
`

// TestManifest: a component gets its release, gates and flags, and no gate of before.
func TestManifest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Component{
		"plain": {Release: "v1.89.3"},
		"told":  {Release: "v1.90.1", Gates: release.Gates{"B": false, "A": true}, Flags: map[string]string{"profiling": "false", "emulated-version": "1.89"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.manifest([]byte(kubeadms), 3)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", "manifest-"+name+".yaml"), string(got))
		})
	}
	if _, err := (Component{}).manifest([]byte("kind: Pod\nspec: {containers: []}\n"), 1); err == nil {
		t.Error("a manifest without a container is no error")
	}
}
