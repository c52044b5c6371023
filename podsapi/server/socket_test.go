package server

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

func TestSocketIsItsOwnersOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(socketDir(t), "missing", "pods")
	s, err := Listen(Config{Socket: filepath.Join(dir, "kubelet.sock")})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{dir: fs.ModeDir | 0o700, s.Socket(): fs.ModeSocket | 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, error %v, want %v", path, info.Mode(), err, want)
		}
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(s.Socket()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close, the socket is there: %v", err)
	}
}

func TestADirectoryOfOthersIsRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o770, 0o707, 0o702, 0o777 | fs.ModeSticky} {
		dir := filepath.Join(socketDir(t), "pods")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		refused(t, Config{Socket: filepath.Join(dir, "s")}, dir, "chmod go-w")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	dir := socketDir(t)
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	refused(t, Config{Socket: filepath.Join(dir, "s")}, dir, "belongs to the user 65534")
}

func TestALiveSocketIsRefused(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	refused(t, Config{Socket: g.Socket()}, g.Socket(), "served by another process")
	if _, err := g.ListPods(t.Context(), &pods.ListPodsRequest{}); err != nil {
		t.Errorf("the first server: %v", err)
	}
}

func TestADeadSocketIsReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(socketDir(t), "pods.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false) // as when the process is killed
	dead.Close()
	s, err := Listen(Config{Socket: path})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func TestWhatIsNoSocketIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(socketDir(t), "pods.sock")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, Config{Socket: path}, path, "is not a socket")
	if content, err := os.ReadFile(path); err != nil || string(content) != "precious" {
		t.Errorf("the file holds %q, error %v", content, err)
	}
	link := filepath.Join(filepath.Dir(path), "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	refused(t, Config{Socket: link}, "is not a socket")
}

func TestAPathThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	refused(t, Config{}, "no socket path")
	dir := filepath.Join(socketDir(t), "pods")
	long := filepath.Join(dir, strings.Repeat("a", 107))
	refused(t, Config{Socket: long}, long, "at most 107")
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of a path that can't be has been made: %v", err)
	}
}

func refused(t *testing.T, config Config, says ...string) {
	t.Helper()
	s, err := Listen(config)
	if err == nil {
		s.Close()
		t.Errorf("%+v was accepted", config)
		return
	}
	for _, want := range says {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}
