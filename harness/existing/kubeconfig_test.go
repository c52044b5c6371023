package existing

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAKubeconfigIsARegularFile: client-go would wait for a FIFO.
func TestAKubeconfigIsARegularFile(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "config")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", fifo)
	for name, c := range map[string]Config{"named": {Kubeconfig: fifo}, "of the environment": {}} {
		if _, _, err := c.Load(); err == nil || !strings.Contains(err.Error(), "a FIFO") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
