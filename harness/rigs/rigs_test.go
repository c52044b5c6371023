package rigs

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/harness/claim"
	"github.com/skewrig/skewrig/harness/unixsocket"
)

func TestName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		purpose string
		limit   int
		want    string
	}{
		{"up", 60, "up-4711"},
		{"", 60, "4711"},
		{"kep-4939/skew/older-kubelet/apiserver:v1.90.1/kubelet:v1.89.3", 60, "skew-older-kubelet-4711"},
		{"kep-4939/skew/older-kubelet/apiserver:v1.90.1/kubelet:v1.89.3", 20, "older-kubelet-4711"},
		{"kep-4939/skew/older-kubelet/apiserver:v1.90.1", 12, "older-k-4711"},
		{"kep-4939/skew/older-kubelet/apiserver:v1.90.1", 4, "4711"},
		{"dwd/race/defaults/grace:40s/seed", 60, "dwd-race-defaults-seed-4711"},
		{"mine/" + strings.Repeat("x", 50), 60, strings.Repeat("x", 24) + "-4711"},
		{"../../etc/../..", 60, "etc-4711"},
		{"a b/c;rm -rf $HOME\n", 60, "a-b-c-rm-rf-HOME-4711"},
	} {
		got := name(c.purpose, 4711, c.limit)
		if got != c.want || len(got) > max(c.limit, len("4711")) {
			t.Errorf("of %q in %d bytes: %q, want %q", c.purpose, c.limit, got, c.want)
		}
	}
}

func TestReleases(t *testing.T) {
	t.Parallel()
	got := releases(map[string]string{"etcd": "v3.7.0", "kube-apiserver": "v1.90.1", "kubelet/a": "v1.89.3", "kubelet/b": "v1.100.0", "kubelet/c": "v1.89.3", "kubelet/d": "reference"})
	if diff := cmp.Diff([]string{"v1.100.0", "v1.90.1", "v1.89.3", "reference"}, got); diff != "" {
		t.Error(diff)
	}
}

// holder makes this test binary have a rig's directory in a directory.
const holder = "SKEWRIG_TEST_HOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holder); dir != "" {
		hold(dir)
	}
	os.Exit(m.Run())
}

// hold has a rig's directory until it is killed. Its guard is killed, too: then
// no process removes the directory.
func hold(parent string) {
	d, err := NewDir(parent, "a/b/older/kubelet:v1.89.3", 0)
	if err == nil {
		err = d.Say(func(i *Info) {
			i.For, i.Kubeconfig, i.Components = "a/b/older/kubelet:v1.89.3", "/k", map[string]string{"kubelet/a": "v1.89.3"}
		})
	}
	fmt.Println(err)
	select {}
}

// TestListAndRemove: what runs is listed and can't be removed; what a killed process
// has left is listed as such, and can be.
func TestListAndRemove(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	for _, other := range []string{"skewrig-page", "other-4711"} { // which are no rigs
		if err := os.Mkdir(filepath.Join(parent, other), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(t.Context(), self)
	process.Env = append(os.Environ(), holder+"="+parent)
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	if said, err := bufio.NewReader(out).ReadString('\n'); err != nil || said != "<nil>\n" {
		t.Fatalf("%q, %v", said, err)
	}
	pid := process.Process.Pid
	name := fmt.Sprintf("b-older-%d", pid)
	want := Rig{
		Name: "a-" + name, Dir: filepath.Join(parent, "skewrig-a-"+name), Running: true, PID: pid, Command: self, Releases: []string{"v1.89.3"},
		Info: Info{For: "a/b/older/kubelet:v1.89.3", Kubeconfig: "/k", Components: map[string]string{"kubelet/a": "v1.89.3"}},
	}
	running, err := List(parent)
	if err != nil || len(running) != 1 || time.Since(running[0].Since) > time.Hour {
		t.Fatalf("%+v, %v", running, err)
	}
	running[0].Since = time.Time{}
	if diff := cmp.Diff(want, running[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := Remove(running[0]); err == nil || !strings.Contains(err.Error(), fmt.Sprint("in use by pid ", pid)) {
		t.Errorf("it runs, and is removed: %v", err)
	}

	// It is killed, and somehow its guard as well.
	left := running[0].Dir + "-2"
	if err := os.CopyFS(left, os.DirFS(running[0].Dir)); err != nil {
		t.Fatal(err)
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // it was killed
	var found []Rig
	await.Until(t.Context(), time.Minute, func() bool { // until its guard has removed the other one
		found, err = List(parent)
		return err != nil || len(found) == 1
	})
	if err != nil || len(found) != 1 || found[0].Running || found[0].Dir != left || found[0].PID != pid {
		t.Fatalf("left is %+v, %v", found, err)
	}
	if err := Remove(found[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("it is still there")
	}
}

// TestTwoRigsOfOneProcess have directories of their own, short enough for sockets.
func TestTwoRigsOfOneProcess(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	const room = 20
	for _, suffix := range []string{"", "-2", "-3"} {
		d, err := NewDir(parent, "up", room)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if want := filepath.Join(parent, fmt.Sprintf("skewrig-up-%d%s", os.Getpid(), suffix)); d.Dir() != want && len(want)+room < unixsocket.MaxPath-len("-99") {
			t.Errorf("%s, want %s", d.Dir(), want)
		}
		if _, held, err := claim.Look(d.Dir()); err != nil || !held {
			t.Errorf("%s: held %t, %v", d.Dir(), held, err)
		}
	}
}

// TestAPathHasRoomForSockets, however long the parent's and the purpose are.
func TestAPathHasRoomForSockets(t *testing.T) {
	t.Parallel()
	short, err := os.MkdirTemp("/tmp", "r") //nolint:usetesting // the path of a socket is short, that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	const room, word = 20, 5
	name := Prefix + strings.Repeat("x", word) + fmt.Sprintf("-%d-99", os.Getpid())
	parent := filepath.Join(short, strings.Repeat("p", unixsocket.MaxPath-room-len(short)-len("//")-len(name)))
	if err := os.Mkdir(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d, err := NewDir(parent, "a/quite-a-long-purpose", room)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if len(d.Dir())+room > unixsocket.MaxPath || !strings.Contains(d.Dir(), Prefix+"quite-") {
			t.Errorf("%d bytes and %d: %s", len(d.Dir()), room, d.Dir())
		}
	}
}

// made is a rig's directory of this process.
func made(t *testing.T, parent string) *Dir {
	t.Helper()
	d, err := NewDir(parent, "up", 0)
	if err == nil {
		err = d.Say(func(i *Info) { i.For = "up" })
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() }) // a test may have closed it
	return d
}

// TestARigThatSaysNothing: a power cut has left an empty file. It is listed, also beside
// others, and can be removed.
func TestARigThatSaysNothing(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	d := made(t, parent)
	for i, text := range []string{"", `{"for": 1}`, `{"for": "x"`} {
		left := filepath.Join(parent, fmt.Sprintf("skewrig-left-%d", i))
		if err := errors.Join(os.Mkdir(left, 0o700), os.WriteFile(filepath.Join(left, infoFile), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := List(parent)
	if err != nil || len(all) != 4 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, r := range all {
		if r.Dir == d.Dir() {
			continue
		}
		if r.Running || r.For != "" {
			t.Errorf("%+v", r)
		}
		if err := Remove(r); err != nil {
			t.Error(err)
		}
	}
	if all, err = List(parent); err != nil || len(all) != 1 || !all[0].Running {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestWhatIsNoRig: a link to a rig, and what another user has.
func TestWhatIsNoRig(t *testing.T) {
	t.Parallel()
	elsewhere, parent := t.TempDir(), t.TempDir()
	d := made(t, elsewhere)
	if err := os.Symlink(d.Dir(), filepath.Join(parent, "skewrig-link")); err != nil {
		t.Fatal(err)
	}
	if all, err := List(parent); err != nil || len(all) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := os.Chown(d.Dir(), 4711, -1); err != nil {
		t.Skip("it takes root to have a directory of another user")
	}
	if all, err := List(elsewhere); err != nil || len(all) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestARigThatEndsIsNotLeft: while its directory is removed, it is no rig any more.
func TestARigThatEndsIsNotLeft(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	d := made(t, parent)
	seen := make(chan error)
	closing := make(chan struct{})
	go func() {
		for {
			all, err := List(parent)
			for _, r := range all {
				if !r.Running {
					err = fmt.Errorf("listed as left: %+v", r)
				}
			}
			select {
			case <-closing:
				seen <- err
				return
			default:
			}
			if err != nil {
				seen <- err
				return
			}
		}
	}()
	for i := range 500 { // so that its removal takes a while
		if err := os.WriteFile(filepath.Join(d.Dir(), fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	close(closing)
	if err := <-seen; err != nil {
		t.Error(err)
	}
}
