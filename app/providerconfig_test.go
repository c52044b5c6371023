package app

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/golden"
)

func TestProviderConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "provider.yaml")
	golden.Write(t, file, `apiVersion: skewrig.dev/v1alpha1
kind: ProviderConfig
rig: {isolate: true}
kindClusters:
  nodeImages: {v1.37.1: registry.example/node:1, v1.36.3: registry.example/node:2}
cluster: {kubeconfig: conf/admin, context: staging, nodes: pool=test, images: [registry.example/a, registry.example/b]}
jobs: {image: registry.example/skewrig:1, namespace: skew, patch: /etc/patch.yaml}
`)
	config, err := ReadProviderConfig(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{
		"rig.isolate":             {"true"},
		"kindClusters.nodeImages": {"v1.36.3=registry.example/node:2", "v1.37.1=registry.example/node:1"},
		"cluster.kubeconfig":      {filepath.Join(dir, "conf", "admin")}, "cluster.context": {"staging"}, "cluster.nodes": {"pool=test"},
		"cluster.images": {"registry.example/a", "registry.example/b"},
		"jobs.image":     {"registry.example/skewrig:1"}, "jobs.namespace": {"skew"}, "jobs.patch": {"/etc/patch.yaml"},
	}, config.Values()); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// TestAWrongProviderConfig: each mistake is reported with its place.
func TestAWrongProviderConfig(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "provider.yaml")
	golden.Write(t, file, "apiVersion: skewrig.dev/v1alpha1\nkind: Provider\ncluster: {contxt: staging}\njobs: {image: [a]}\n")
	_, err := ReadProviderConfig(file)
	for _, want := range []string{"provider.yaml:2:7: kind must be ProviderConfig", "provider.yaml:3:11: ", "contxt", "provider.yaml:4:15: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
