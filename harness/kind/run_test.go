package kind

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/claim"
	"github.com/skewrig/skewrig/harness/docker"
)

// daemon is a program in place of docker that lists networks, each with the value of a label, whatever it is asked for. It
// returns which networks were removed.
func daemon(t *testing.T, networks map[string]string) (removed func() []string) {
	t.Helper()
	dir := t.TempDir()
	list, log := filepath.Join(dir, "list"), filepath.Join(dir, "log")
	var lines string
	for name, label := range networks {
		lines += name + " " + label + "\n"
	}
	if err := errors.Join(os.WriteFile(list, []byte(lines), 0o600), os.WriteFile(log, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	inPlaceOfDocker(t, fmt.Sprintf(`case "$1 $2" in
"network ls") cat %s ;;
"network rm") echo "$3" >>%s ;;
esac
`, list, log))
	return func() []string {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Sorted(slices.Values(strings.Fields(string(text))))
	}
}

// runDir is the directory of a run in the directory for temporary files, with an id, and a file to lose.
func runDir(t *testing.T, name, id string) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), name)
	err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "data"), nil, 0o600))
	if id != "" {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "run"), []byte(id), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestDirectoriesInLabels stay: whoever reaches the daemon can write labels, other machines among them. All of them are
// below temporary directories of the test, and have to be: where labels are taken for paths, it removes them.
func TestDirectoriesInLabels(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Chdir(t.TempDir())
	precious := runDir(t, "precious", "")
	beside, err := filepath.Abs("beside")
	if err := errors.Join(err, os.Mkdir(beside, 0o700), os.Symlink(precious, filepath.Join(os.TempDir(), "skewrig-kind-link"))); err != nil {
		t.Fatal(err)
	}
	removed := daemon(t, map[string]string{
		"skewrig-00000001": precious, "skewrig-00000002": "beside", "skewrig-00000003": "../" + filepath.Base(filepath.Dir(beside)) + "/beside",
		"skewrig-00000004": filepath.Join(os.TempDir(), "skewrig-kind-link"),
	})
	r, err := Open(t.Context(), "a test")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(precious, "data"), beside} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if got := removed(); len(got) > 0 {
		t.Errorf("removed are %q, which are of others", got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestWhatARunHasLeft is removed if its process, on this machine, has ended.
func TestWhatARunHasLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	labels, err := docker.OwnerLabels()
	if err != nil {
		t.Fatal(err)
	}
	_, mine, _ := strings.Cut(labels[len(labels)-1], "=")
	part := strings.Split(mine, ".") // boot, namespace, process, its start
	of := func(boot, namespace, pid, start string) string {
		return strings.Join([]string{boot, namespace, pid, start}, ".")
	}
	removed := daemon(t, map[string]string{
		"skewrig-00000001": mine,
		"skewrig-00000002": of(part[0], part[1], part[2], part[3]+"0"),    // it had our number before
		"skewrig-00000003": of("another-boot", part[1], part[2], part[3]), // it was here before the machine was started
		"skewrig-00000004": of(part[0], "1", part[2], part[3]),            // it may run in another container
		"skewrig-00000005": of(part[0], part[1], part[2], "now"),
		"their-network":    of("another-boot", part[1], part[2], part[3]),
	})
	dead, lasts, bare, other := runDir(t, "skewrig-kind-dead", "0000000a"), runDir(t, "skewrig-kind-lasts", "0000000b"), runDir(t, "skewrig-kind-bare", ""), runDir(t, "skewrig-kind-other", "not an id")
	linked := runDir(t, "linked", "0000000c")
	claimed, err := claim.Take(lasts, claim.Me("a run"))
	if err := errors.Join(err, os.Symlink(linked, filepath.Join(os.TempDir(), "skewrig-kind-link"))); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), "a test")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"skewrig-00000002", "skewrig-00000003", "skewrig-0000000a"}, removed()); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	for dir, stays := range map[string]bool{dead: false, lasts: true, bare: true, other: true, linked: true} {
		if _, err := os.Stat(filepath.Join(dir, "data")); (err == nil) != stays {
			t.Errorf("%s: %v, want that it stays: %t", dir, err, stays)
		}
	}
	if _, err := Open(t.Context(), "another"); !errors.Is(err, ErrOpen) {
		t.Errorf("two runs at once: %v", err)
	}
	if err := errors.Join(r.Close(), claimed.Release()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(r.dir); !errors.Is(err, os.ErrNotExist) || os.Getenv(networkVariable) != "" {
		t.Errorf("after Close: %v, %s", err, os.Getenv(networkVariable))
	}
	next, err := Open(t.Context(), "the next")
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}

// TestUnknownNodes are an error, and no panic.
func TestUnknownNodes(t *testing.T) {
	t.Parallel()
	k := &Cluster{nodes: map[string]*node{"node-a": {}, "node-b": {}}}
	const want = `unsupported value: node "node-c": supported values: node-a, node-b`
	_, stop := k.StopKubelet(t.Context(), "node-c")
	_, kill := k.KillKubelet(t.Context(), "node-c")
	_, log := k.KubeletLog(t.Context(), "node-c")
	for name, err := range map[string]error{
		"stop": stop, "kill": kill, "log": log, "start": k.StartKubelet(t.Context(), Node{Name: "node-c"}),
		"put": k.PutManifest(t.Context(), "node-c", "pod", nil), "remove": k.RemoveManifest(t.Context(), "node-c", "pod"),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, known := k.Path("node-c", "id"); known || k.away.cover("kubelet/node-c", time.Now()) {
		t.Error("node-c is known")
	}
}
