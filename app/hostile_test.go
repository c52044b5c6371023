package app

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFilesThatUsersNameAreRegular: a FIFO would keep a command waiting, and a device has no end.
func TestFilesThatUsersNameAreRegular(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := syscall.Mkfifo("fifo.yaml", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", "zero.yaml"); err != nil {
		t.Fatal(err)
	}
	var c Catalog
	for name, read := range map[string]func(file string) error{
		"a scenario": func(file string) error { _, err := c.planFiles([]string{file}); return err },
		"a scenario elsewhere": func(file string) error {
			_, err := c.planFiles([]string{filepath.Join("..", filepath.Base(dir), file)})
			return err
		},
		"a list":     func(file string) error { _, err := c.Excusing(file); return err },
		"a manifest": func(file string) error { _, err := Init(file); return err },
		"a KEP":      func(file string) error { _, err := Scaffold(file, "Gate", ""); return err },
		"a sweep":    func(file string) error { _, err := ReadKnown(file); return err },
		"an archive": func(file string) error { _, err := Import(t.Context(), nil, "", file, nil); return err },
	} {
		for file, want := range map[string]string{"fifo.yaml": "a FIFO", "zero.yaml": "a device"} {
			if err := read(file); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s from %s: %v, want an error with %q", name, file, err, want)
			}
		}
	}
	if err := os.Mkdir("report", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("report/report.json", 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadReport("report"); err == nil || !strings.Contains(err.Error(), "a FIFO") {
		t.Errorf("a report: %v", err)
	}
}
