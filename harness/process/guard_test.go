package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestADirectoryWithoutAShell is made and removed, too: there is no process to guard it.
func TestADirectoryWithoutAShell(t *testing.T) {
	t.Parallel()
	g, err := newGuard(filepath.Join(t.TempDir(), "sh"), filepath.Join(t.TempDir(), "rig"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.Dir(), "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(g.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close: %v", err)
	}
}
