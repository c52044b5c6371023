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

// TestADirectoryThatHasTheNameOfOneBefore stays, from when the one before is gone: rigs of the same
// scenario have the same names.
func TestADirectoryThatHasTheNameOfOneBefore(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "rig")
	for range 20 {
		before, err := NewGuard(dir)
		if err != nil {
			t.Fatal(err)
		}
		closed := make(chan error)
		go func() { closed <- before.Close() }()
		for err = os.Mkdir(dir, 0o700); errors.Is(err, fs.ErrExist); {
			err = os.Mkdir(dir, 0o700)
		}
		if err := errors.Join(err, <-closed); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal("the guard of the one before removed it:", err)
		}
	}
}
