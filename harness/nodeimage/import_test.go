package nodeimage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/skewrig/skewrig/harness/process"
)

// TestImport: the script imports each archive into containerd, and then removes all of them.
func TestImport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archives := filepath.Join(dir, "archives")
	err := errors.Join(
		os.Mkdir(archives, 0o700),
		os.WriteFile(filepath.Join(archives, "0 a.tar"), nil, 0o600), os.WriteFile(filepath.Join(archives, "1.tar"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "ctr"), []byte("#!/bin/sh\nfor archive; do :; done\necho \"$archive\"\n"), 0o700)) //nolint:gosec // it is to run
	if err != nil {
		t.Fatal(err)
	}
	cmd := process.Command{Path: "/bin/sh", Args: []string{"-c", importImages, "sh", archives}, Env: []string{"PATH=" + dir + ":/usr/bin:/bin"}}
	got, err := cmd.Output(t.Context())
	if want := archives + "/0 a.tar\n" + archives + "/1.tar"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := os.Stat(archives); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("they are still there: %v", err)
	}
}
