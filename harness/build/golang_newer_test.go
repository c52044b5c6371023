package build

import (
	"strings"
	"testing"
)

// TestAReleaseForANewerGo: its error says what to do.
func TestAReleaseForANewerGo(t *testing.T) {
	t.Parallel()
	got := newerGo("go: k8s.io/kubernetes@v1.90.0: module requires go >= 1.27.0 (running go 1.26.8; GOTOOLCHAIN=local)")
	if !strings.Contains(got, "needs Go 1.27.0 or newer") || !strings.Contains(got, "GOTOOLCHAIN=auto") {
		t.Errorf("got %q", got)
	}
	if got := newerGo("404 Not Found"); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestAModuleThatIsNotDownloadedForANewerGo: the error of the first download says what to do.
func TestAModuleThatIsNotDownloadedForANewerGo(t *testing.T) {
	serveModules(t, map[string]string{"k8s.io/kubernetes@v1.99.0": "module k8s.io/kubernetes\n\ngo 1.99.0\n"})
	t.Setenv("GOTOOLCHAIN", "local")
	b := &Builder{Dir: t.TempDir()}
	_, err := b.Binary(t.Context(), Target{Component: Kubelet, Version: "v1.99.0"})
	if err == nil || !strings.Contains(err.Error(), "needs Go 1.99.0 or newer: install it") {
		t.Errorf("got %v", err)
	}
}
