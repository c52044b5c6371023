package kind

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/process"
)

// runScript runs a script of nodes here, and returns what it printed.
func runScript(t *testing.T, script, in string, args ...string) string {
	t.Helper()
	cmd := process.Command{Path: "/bin/sh", Args: append([]string{"-c", script, "sh"}, args...), Env: process.ToolEnv(), Stdin: strings.NewReader(in)}
	out, err := cmd.Output(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFilesOfNodes: their names are no code. One that is put is whole, one of the network is written in place.
func TestFilesOfNodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	was := make(map[string]os.FileInfo)
	for _, name := range []string{"$(exit 1) a", "net"} {
		if err := os.WriteFile(in(name), []byte("a longer text of before"), 0o600); err != nil {
			t.Fatal(err)
		}
		was[name], _ = os.Stat(in(name))
	}
	runScript(t, put, "a pod", in("part"), in("$(exit 1) a"))
	runScript(t, writeNetwork, "a network", in("net"))
	runScript(t, writeNetwork, "a network", in("new/net"))
	for name, want := range map[string]string{"$(exit 1) a": "a pod", "net": "a network", "new/net": "a network"} {
		if got, err := os.ReadFile(in(name)); string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, inPlace := range map[string]bool{"$(exit 1) a": false, "net": true} {
		if is, err := os.Stat(in(name)); os.SameFile(was[name], is) != inPlace {
			t.Errorf("%s was not written in place: %t, %v", name, inPlace, err)
		}
	}
	if _, err := os.Stat(in("part")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its part is left: %v", err)
	}
}

// TestLastLog is the newest log of a component, and not that of another one. There may be none.
func TestLastLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	began := time.Now().Add(-time.Hour)
	for i, name := range []string{"kube-system_etcd-a_0/etcd/0.log", "kube-system_etcd-a_1/etcd/1.log", "kube-system_etcd-a_1/etcd/0.log", "kube-system_other-a_1/other/0.log"} {
		file, at := filepath.Join(dir, name), began.Add(time.Duration(i)*time.Minute)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(name), 0o600), os.Chtimes(file, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	for component, want := range map[string]string{"etcd": "kube-system_etcd-a_1/etcd/0.log", "none": ""} {
		if got := runScript(t, lastLog, "", dir, component); got != want {
			t.Errorf("%s: %q, want %q", component, got, want)
		}
	}
}

// TestGone: it is waited for until a file is gone, and no longer.
func TestGone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var removed atomic.Bool
	time.AfterFunc(150*time.Millisecond, func() {
		removed.Store(true)
		_ = os.Remove(file) // or the script goes on, until the test ends it
	})
	if runScript(t, gone, "", file); !removed.Load() {
		t.Error("it was still there")
	}
}

// TestWhatIsKilled is not started again: neither a kubelet by systemd, nor a component by the kubelet.
func TestWhatIsKilled(t *testing.T) {
	dir := t.TempDir()
	commands := filepath.Join(dir, "commands")
	for _, name := range []string{"systemctl", "ctr", "rm"} {
		text := "#!/bin/sh\necho " + name + " \"$@\" >>" + commands + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	runScript(t, killKubelet, "")
	runScript(t, killComponent, "", "an id", "a manifest")
	want := `systemctl kill --signal=KILL kubelet.service
systemctl stop kubelet.service
systemctl stop kubelet.service
ctr --namespace=k8s.io tasks kill --signal=SIGKILL an id
rm a manifest
systemctl start kubelet.service
`
	if got, err := os.ReadFile(commands); string(got) != want {
		t.Errorf("the node ran\n%s%v, want\n%s", got, err, want)
	}
}
