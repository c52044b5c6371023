package nodeimage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/harness/await"
)

// TestAnInstallationThatIsBrokenOff leaves nothing, though what debootstrap has mounted is still mounted when it is killed.
func TestAnInstallationThatIsBrokenOff(t *testing.T) {
	dir := t.TempDir()
	mounted := filepath.Join(dir, "mounted")
	standIn := "#!/bin/sh\nset -e\nfor root; do :; done\nmkdir -p \"$root/proc\"\nmount -t proc proc \"$root/proc\"\ntouch " + mounted + "\nsleep 600\n"
	if err := os.WriteFile(filepath.Join(dir, "debootstrap"), []byte(standIn), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		await.Until(ctx, time.Minute, func() bool { _, err := os.Stat(mounted); return err == nil })
		cancel()
	}()
	cache := filepath.Join(dir, "cache")
	err := debian(ctx, filepath.Join(cache, "debian.tar"))
	if errors.Is(err, unix.EPERM) {
		t.Skip(err)
	}
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), cache) {
		t.Error(err)
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
