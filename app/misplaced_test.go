package app

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSelectSaysWhatAFileIs that was given as a scenario.
func TestSelectSaysWhatAFileIs(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tc := range []struct{ text, want string }{
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n", "it.yaml is a Pod (v1), and no scenario: skewrig init --pod mine/it.yaml makes a catalog with a first one; or write a scenario beside it that applies it, with the step {file: it.yaml}; skewrig docs own-catalog has one to copy"},
		{"apiVersion: apps/v1\nkind: Deployment\n", "it.yaml is a Deployment (apps/v1), and no scenario: skewrig init --pod mine/it.yaml makes"},
		{"apiVersion: v1\nkind: ConfigMap\n", "it.yaml is a ConfigMap (v1), and no scenario: write a scenario beside it"},
		{"apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n", "is a cluster file of kind, and no scenario: skewrig cluster up mine/it.yaml starts it"},
		{"apiVersion: skewrig.dev/v1alpha1\nkind: KnownDeviations\n", "give it with --known-deviations mine/it.yaml"},
		// What is meant as a scenario, or as nothing, is for the decoder.
		{"apiVersion: skewrig.dev/v1\nkind: Scenario\n", "apiVersion must be skewrig.dev/v1alpha1"},
		{"apiVersion: skewrig.dev/v1alpha1\nkind: Scenari\n", "kind must be Scenario"},
		{"steps: [\n", "it.yaml:"},
	} {
		path := filepath.Join("mine", "it.yaml")
		if err := os.MkdirAll("mine", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Select([]string{path}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v, want %q", tc.text, err, tc.want)
		} else if strings.Contains(tc.want, "no scenario") && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than that is said: %v", tc.text, err)
		}
	}
	if _, err := (Catalog{}).UpCell(io.Discard, []string{"nowhere.yaml"}); err == nil || err.Error() != "nowhere.yaml does not exist" {
		t.Errorf("up of a file that is not there: %v", err)
	}
	if _, err := Select([]string{"nowhere.yaml"}); err == nil || err.Error() != "nowhere.yaml does not exist" {
		t.Errorf("a file that is not there: %v", err)
	}
}
