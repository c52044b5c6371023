package main

import (
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
)

// TestProviderConfigIsOfTheProvider: a run reads the sections of its provider, and a flag counts more than the file.
func TestProviderConfigIsOfTheProvider(t *testing.T) {
	scenario := readText(t, web)
	t.Chdir(t.TempDir())
	golden.Write(t, "provider.yaml", `apiVersion: skewrig.dev/v1alpha1
kind: ProviderConfig
kindClusters: {nodeImages: {v1.30.0: registry.example/node:1}}
cluster: {kubeconfig: nowhere, images: [registry.example/a]}
jobs: {namespace: skew}
`)
	golden.Write(t, "mine.yaml", scenario)
	for line, want := range map[string]string{
		"run --provider cluster mine.yaml":                    "stat nowhere: no such file",
		"run --provider cluster --kubeconfig other mine.yaml": "stat other: no such file",
		"run --provider kind mine.yaml":                       "--node-image v1.30.0=registry.example/node:1 is of a release that no selected cell needs",
		"run --jobs 2 mine.yaml":                              "--jobs needs an image (jobs.image of --provider-config)",
	} {
		code, _, stderr := skewrig(t, append(strings.Fields(line), "--provider-config", "provider.yaml")...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("skewrig %s: exit code %d, want %d and %q:\n%s", line, code, exitUsage, want, stderr)
		}
	}
}
