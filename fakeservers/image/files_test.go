package image_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// container returns a process with a volume as the kubelet lays out a config
// map, a single file, and a read-only volume in a volume.
func container(t *testing.T) *image.Process {
	t.Helper()
	node := t.TempDir()
	write := func(name, data string) {
		t.Helper()
		name = filepath.Join(node, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(node, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("config/..2026/color", "red")
	link("..2026", "config/..data")
	link("..data/color", "config/color")
	write("secret", "of the node")
	link("../secret", "config/out")
	link(filepath.Join(node, "secret"), "config/away")
	write("hosts", "127.0.0.1 localhost")
	write("certs/tls.crt", "PEM")
	return &image.Process{Mounts: []image.Mount{
		{ContainerPath: "/etc/config", HostPath: filepath.Join(node, "config")},
		{ContainerPath: "/etc/config/certs/", HostPath: filepath.Join(node, "certs"), ReadOnly: true},
		{ContainerPath: "/etc/hosts", HostPath: filepath.Join(node, "hosts")},
	}}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	p := container(t)
	if err := p.WriteFile("/tmp/a/b", []byte("in memory")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"/etc/config/color":               "red",
		"etc/config/../config/color":      "red",
		"/etc/config/certs/tls.crt":       "PEM",
		"/etc/hosts":                      "127.0.0.1 localhost",
		"/tmp/a/b":                        "in memory",
		"//tmp/./a/b":                     "in memory",
		"/etc/config/../../../tmp/a/b":    "in memory",
		"/../../etc/config/..data/color/": "red",
	} {
		if got, err := p.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, error %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"/nowhere":               "open /nowhere: file does not exist",
		"/etc/config/nowhere":    "openat /etc/config/nowhere: no such file or directory",
		"/etc/config/out":        "openat /etc/config/out: path escapes from parent",
		"/etc/config/away":       "openat /etc/config/away: path escapes from parent",
		"/etc/config/../secret":  "open /etc/secret: file does not exist",
		"/etc/hosts/a":           "open /etc/hosts/a: not a directory",
		"/tmp/a":                 "read /tmp/a: is a directory",
		"/etc/config/certs":      "read /etc/config/certs: is a directory",
		"/etc/configuration":     "open /etc/configuration: file does not exist",
		"/etc/config/certs/none": "openat /etc/config/certs/none: no such file or directory",
	} {
		if got, err := p.ReadFile(name); err == nil || err.Error() != want {
			t.Errorf("%s: %q, error %v, want %s", name, got, err, want)
		}
	}
}

func TestWriteAndRemove(t *testing.T) {
	t.Parallel()
	p := container(t)
	for _, name := range []string{"/tmp/ready", "/etc/config/new", "/etc/hosts"} {
		for _, want := range []string{"first and long", "second"} {
			if err := p.WriteFile(name, []byte(want)); err != nil {
				t.Fatal(err)
			}
			if got, err := p.ReadFile(name); err != nil || string(got) != want {
				t.Errorf("%s: %q, error %v, want %q", name, got, err, want)
			}
		}
	}
	for _, name := range []string{"/tmp/ready", "/etc/config/new"} {
		if err := p.Remove(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s, again: %v", name, err)
		}
		if _, err := p.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"/etc/config/certs/tls.crt": p.WriteFile("/etc/config/certs/tls.crt", nil),
		"/etc/config/certs/tls.key": p.WriteFile("/etc/config/certs/tls.key", nil),
		"certs/tls.crt":             p.Remove("/etc/config/certs/tls.crt"),
	} {
		if err == nil || !strings.Contains(err.Error(), "read-only file system") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.Remove("/etc/hosts"); err == nil {
		t.Error("a mount was removed")
	}
	if err := p.WriteFile("/big", make([]byte, 17<<20)); err == nil {
		t.Error("a file of 17 MiB was written")
	}
}

// TestBytes: what is on a volume is not the container's.
func TestBytes(t *testing.T) {
	t.Parallel()
	p := container(t)
	for name, data := range map[string]string{"/a": "1234", "/tmp/b": "56", "/etc/config/c": "789"} {
		if err := p.WriteFile(name, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.Files.Bytes(); got != 6 {
		t.Errorf("got %d", got)
	}
	if err := p.Remove("/a"); err != nil {
		t.Fatal(err)
	}
	if got := p.Files.Bytes(); got != 2 {
		t.Errorf("got %d", got)
	}
}

func TestRemoveADirectory(t *testing.T) {
	t.Parallel()
	p := &image.Process{}
	for _, name := range []string{"/tmp/a/b", "/tmp/a/c/d", "/tmp/ab"} {
		if err := p.WriteFile(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Remove("/tmp/a"); err != nil {
		t.Fatal(err)
	}
	got, err := p.ReadDir("/tmp")
	if diff := cmp.Diff([]string{"ab"}, got); diff != "" || err != nil {
		t.Errorf("error %v, left (-want +got):\n%s", err, diff)
	}
}

func TestReadDirAndStat(t *testing.T) {
	t.Parallel()
	p := container(t)
	for _, name := range []string{"/tmp/a/b", "/tmp/c", "/etc/other"} {
		if err := p.WriteFile(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{
		"/":                 {"etc", "tmp"},
		"/etc":              {"config", "hosts", "other"},
		"/tmp":              {"a", "c"},
		"/tmp/a":            {"b"},
		"/etc/config/certs": {"tls.crt"},
		"/etc/config":       {"..2026", "..data", "away", "color", "out"},
	} {
		got, err := p.ReadDir(name)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, names (-want +got):\n%s", name, err, diff)
		}
		if mode, err := p.Stat(name); err != nil || !mode.IsDir() {
			t.Errorf("%s: mode %v, error %v", name, mode, err)
		}
	}
	for name, want := range map[string]fs.FileMode{"/tmp/c": 0o644, "/etc/config/color": 0o600, "/etc/hosts": 0o600} {
		if mode, err := p.Stat(name); err != nil || mode != want {
			t.Errorf("%s: mode %v, error %v, want %v", name, mode, err, want)
		}
		if _, err := p.ReadDir(name); err == nil || !strings.Contains(err.Error(), "not a directory") {
			t.Errorf("%s, as a directory: %v", name, err)
		}
	}
}

func TestMkdir(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	p := &image.Process{Mounts: []image.Mount{
		{ContainerPath: "/data", HostPath: volume},
		{ContainerPath: "/fixed", HostPath: volume, ReadOnly: true},
	}}
	for _, dir := range []string{"/a/b", "/a/b", "/data/c/d", "/tmp"} {
		if err := p.Mkdir(dir); err != nil {
			t.Error(err)
		}
		if mode, err := p.Stat(dir); err != nil || !mode.IsDir() {
			t.Errorf("%s is %v, %v", dir, mode, err)
		}
	}
	if err := p.WriteFile("/a/b/file", []byte("text")); err != nil {
		t.Error(err)
	}
	if err := p.Remove("/a/b/file"); err != nil {
		t.Error(err)
	}
	if names, err := p.ReadDir("/a"); err != nil || !slices.Equal(names, []string{"b"}) {
		t.Errorf("in /a are %q, %v", names, err)
	}
	if err := p.Remove("/a"); err != nil {
		t.Error(err)
	}
	if _, err := p.Stat("/a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("/a was removed: %v", err)
	}
	if err := p.WriteFile("/file", nil); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"mkdir /file: file already exists": p.Mkdir("/file"),
		"mkdir /fixed/e: read-only":        p.Mkdir("/fixed/e"),
		"write /tmp: is a directory":       p.WriteFile("/tmp", nil),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %s", err, what)
		}
	}
}
