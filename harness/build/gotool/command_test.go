package gotool

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
