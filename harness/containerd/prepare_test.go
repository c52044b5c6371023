package containerd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/harness/process"
)

// TestPrepare: a node has a boot ID of its own, and what it writes to these places is nowhere else.
func TestPrepare(t *testing.T) {
	t.Parallel()
	if found := LookUp(os.TempDir()); !found.Root || !found.Overlay {
		t.Skip("it takes root, and overlay file systems")
	}
	bootID := filepath.Join(t.TempDir(), "boot_id")
	if err := os.WriteFile(bootID, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := process.NewNamespaces(prepare, bootID)
	if errors.Is(err, unix.EPERM) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	see := process.Command{Path: "cat", Args: []string{"/proc/sys/kernel/random/boot_id", "/proc/self/mountinfo"}, Env: process.ToolEnv(), In: n}
	got, err := see.Output(t.Context())
	if err != nil || !strings.HasPrefix(got, "1\n") {
		t.Errorf("the boot ID is not its own: %v", err)
	}
	for _, at := range []string{"/run", "/var/lib", "/var/log", "/proc/sys/kernel/panic"} {
		if !strings.Contains(got, " "+at+" rw,") {
			t.Errorf("%s is not its own:\n%s", at, got)
		}
	}
}
