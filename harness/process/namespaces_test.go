package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/harness/await"
)

// namespaces are some, unless this process may not make any: it is not root's, or in a container.
func namespaces(t *testing.T, script string, args ...string) *Namespaces {
	t.Helper()
	n, err := NewNamespaces(script, args...)
	if errors.Is(err, unix.EPERM) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// output runs a shell in namespaces, and returns what it printed.
func output(t *testing.T, n *Namespaces, script string) string {
	t.Helper()
	out, err := Command{Path: "/bin/sh", Args: []string{"-c", script}, In: n}.Output(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return out
}

// TestNamespaces: what is mounted there is nowhere else, and a daemon there ends with them.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := namespaces(t, `mount -t tmpfs tmpfs "$1"; touch "$1/inside"`, dir)
	if got := output(t, n, "ls "+dir); got != "inside" {
		t.Errorf("inside, %s has %q", dir, got)
	}
	if outside, err := os.ReadDir(dir); err != nil || len(outside) != 0 {
		t.Errorf("outside, it has %v, %v", outside, err)
	}
	daemon := filepath.Join(dir, "daemon")
	if got := output(t, n, "setsid sleep 600 </dev/null >/dev/null 2>&1 "+daemon+" & echo $$"); got == "" {
		t.Fatal("no daemon")
	}
	p, err := Start(t.Context(), Config{Name: "sleep", Path: "/bin/sh", Args: []string{"-c", "sleep 600 # " + daemon}, Log: filepath.Join(t.TempDir(), "log"), In: n})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if !await.Until(t.Context(), time.Minute, func() bool { return p.Exit() != nil }) {
		t.Error("a process of the namespaces still runs")
	}
	left, err := Knowing(daemon)
	if err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestNamespacesThatCannotBePrepared say why.
func TestNamespacesThatCannotBePrepared(t *testing.T) {
	t.Parallel()
	_, err := NewNamespaces("echo no disk >&2; exit 3")
	if errors.Is(err, unix.EPERM) {
		t.Skip(err)
	}
	if err == nil || !strings.Contains(err.Error(), "exit status 3: no disk") {
		t.Errorf("%v", err)
	}
}

// TestAScriptThatPrints prepares namespaces as a silent one does.
func TestAScriptThatPrints(t *testing.T) {
	t.Parallel()
	n := namespaces(t, `echo "mounting $1"`, "a")
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

// TestClosedNamespaces run nothing more, and can be closed again.
func TestClosedNamespaces(t *testing.T) {
	t.Parallel()
	n := namespaces(t, "")
	if err := errors.Join(n.Close(), n.Close()); err != nil {
		t.Error(err)
	}
	if _, err := (Command{Path: "/bin/true", In: n}).Run(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("%v, want %v", err, errClosed)
	}
}

// TestTheMainThreadStays where it is: it would not end with the namespaces.
func TestTheMainThreadStays(t *testing.T) {
	t.Parallel()
	for range 20 {
		n := namespaces(t, "")
		ours, err := os.Readlink("/proc/thread-self/ns/mnt")
		main, mainErr := os.Readlink("/proc/self/ns/mnt")
		if ours != main || err != nil || mainErr != nil {
			t.Errorf("the main thread is in %s, %v, and not in %s, %v", main, mainErr, ours, err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}
