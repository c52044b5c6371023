package runtime

import (
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func configOn(socket string) Config {
	return Config{Socket: socket, Node: "node-a", PodCIDR: netip.MustParsePrefix("127.77.0.0/24"), Library: library{}}
}

func TestSocketIsItsOwnersOnly(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	path := strings.TrimPrefix(g.Endpoint(), "unix://")
	if !filepath.IsAbs(path) {
		t.Errorf("endpoint %s has no absolute path", g.Endpoint())
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %s, want a socket with 0600", info.Mode())
	}
}

func TestALiveSocketIsRefused(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	path := strings.TrimPrefix(g.Endpoint(), "unix://")
	if r, err := Start(configOn(path)); err == nil || !strings.Contains(err.Error(), "served by another process") {
		if err == nil {
			r.Close()
		}
		t.Errorf("error %v, want one that says that %s is served", err, path)
	}
	g.pod(t, "web") // the first runtime is still there
}

func TestADeadSocketIsReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(socketDir(t), "cri.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false) // as when the process is killed
	dead.Close()
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	r, err := Start(configOn(path))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close, the socket is there: %v", err)
	}
}

func TestAFileInTheWayIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(socketDir(t), "cri.sock")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(configOn(path)); err == nil || !strings.Contains(err.Error(), "is not a socket") {
		t.Errorf("error %v, want one that says that the file is no socket", err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "precious" {
		t.Errorf("the file holds %q, error %v", content, err)
	}
}

func TestEveryProblemOfAConfigIsReported(t *testing.T) {
	t.Parallel()
	_, err := Start(Config{})
	if err == nil {
		t.Fatal("an empty config was accepted")
	}
	for _, want := range []string{"no socket path", "no node name", "no image library", "pod CIDR"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	long := configOn("/tmp/" + strings.Repeat("a", 103))
	if _, err := Start(long); err == nil || !strings.Contains(err.Error(), "107 bytes") {
		t.Errorf("a path of %d bytes: %v", len(long.Socket), err)
	}
	for _, cidr := range []string{"10.0.0.0/24", "127.0.0.0/31", "127.0.0.0/7", "::1/128"} {
		config := configOn(filepath.Join(socketDir(t), "cri.sock"))
		config.PodCIDR = netip.MustParsePrefix(cidr)
		if _, err := Start(config); err == nil || !strings.Contains(err.Error(), cidr) {
			t.Errorf("pod CIDR %s: error %v", cidr, err)
		}
	}
}

func TestMountpoint(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{"/": "/", "/proc/self": "/proc"} {
		if got, err := mountpoint(dir); err != nil || got != want {
			t.Errorf("the file system of %s is mounted at %s (error %v), want %s", dir, got, err, want)
		}
	}
	if _, err := mountpoint("/does/not/exist"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
}
