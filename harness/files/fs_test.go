package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/skewrig/skewrig/harness/files"
)

// listed is a directory with a file, a link to one elsewhere, and a FIFO.
func listed(t *testing.T) string {
	t.Helper()
	outside, dir := place(t, "secret", "secret"), t.TempDir()
	err := errors.Join(os.Mkdir(filepath.Join(dir, "in"), 0o700), os.WriteFile(filepath.Join(dir, "in", "ten"), []byte("0123456789"), 0o600),
		os.Symlink(outside, filepath.Join(dir, "link")), syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFileSystems(t *testing.T) {
	dir := listed(t)
	for name, system := range map[string]fs.FS{"DirFS": files.DirFS(dir, 10), "RootFS": files.RootFS(dir, 10)} {
		within, err := fs.Sub(system, "in")
		if err != nil {
			t.Fatal(err)
		}
		if err := fstest.TestFS(within, "ten"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := fs.ReadFile(system, "fifo"); err == nil || err.Error() != "open fifo: not a regular file but a FIFO" {
			t.Errorf("%s: reading a FIFO: %v", name, err)
		}
		if _, err := system.Open("fifo"); err == nil {
			t.Errorf("%s opens a FIFO", name)
		}
		if text, err := fs.ReadFile(system, "in/ten"); err != nil || string(text) != "0123456789" {
			t.Errorf("%s: reading a file: %q, %v", name, text, err)
		}
		_, err = fs.ReadFile(system, "link")
		if followed := err == nil; followed != (name == "DirFS") {
			t.Errorf("%s: reading a link that leads out: %v", name, err)
		}
	}
	_, err := fs.ReadFile(files.DirFS(dir, 9), "in/ten")
	if large, is := errors.AsType[*files.TooLargeError](err); !is || large.Path != "in/ten" {
		t.Errorf("reading a file beyond the limit: %v", err)
	}
}

func TestBelow(t *testing.T) {
	dir := listed(t)
	if text, err := files.ReadBelow(dir, "in/ten", 10); err != nil || string(text) != "0123456789" {
		t.Errorf("ReadBelow = %q, %v", text, err)
	}
	if _, err := files.ReadBelow(dir, "link", 10); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "link")) {
		t.Errorf("ReadBelow of a link that leads out = %v", err)
	}
	if _, err := files.ReadBelow(filepath.Join(dir, "fifo"), "none", 10); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("ReadBelow of a FIFO = %v", err)
	}
	if _, err := files.ReadBelow(dir, "none", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadBelow of no file = %v", err)
	}
}

func TestMkdirBelow(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "cells")); err != nil {
		t.Fatal(err)
	}
	if _, err := files.MkdirBelow(dir, "cells/a", 0o755); err == nil {
		t.Error("MkdirBelow followed a link")
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("made outside: %v, %v", left, err)
	}
	made, err := files.MkdirBelow(dir, "plans/1", 0o755)
	if info, statErr := os.Stat(made); err != nil || statErr != nil || !info.IsDir() {
		t.Errorf("MkdirBelow = %q, %v, %v", made, err, statErr)
	}
}
