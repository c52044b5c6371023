package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
)

// pretendGo puts a Go command into PATH that compiles every program to one that says it is
// etcd. It is the toolchain that PRETEND_GO names.
func pretendGo(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	golden.Write(t, filepath.Join(dir, "go"), fmt.Sprintf(`#!/bin/sh
case "$1" in
env) printf '%%s\n' "$PRETEND_GO" %s %s v1 "" off ;;
build)
	while [ "$1" != -o ]; do shift; done
	printf '#!/bin/sh\necho etcd Version: %s\n' > "$2"
	chmod +x "$2" ;;
*) exit 1 ;;
esac
`, runtime.GOOS, runtime.GOARCH, strings.TrimPrefix(string(release.Etcd), "v")))
	if err := os.Chmod(filepath.Join(dir, "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("PRETEND_GO", "go1.90.1")
	t.Setenv("KUBEBUILDER_ASSETS", "")
}

// built are the binaries that a command line prints as JSON.
func built(t *testing.T, args ...string) (binaries []build.Binary) {
	t.Helper()
	code, stdout, stderr := skewrig(t, append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(stdout), &binaries); code != 0 || err != nil || len(binaries) != 1 {
		t.Fatalf("%v: exit code %d, %v:\n%s%s", args, code, err, stdout, stderr)
	}
	return binaries
}

// TestComponentsGoToAnotherMachine: built on one, they are used on one without Go.
func TestComponentsGoToAnotherMachine(t *testing.T) {
	pretendGo(t)
	t.Chdir(t.TempDir())
	code, stdout, stderr := skewrig(t, "build", "save", "a.tar.zst", "etcd", "--cache-dir", "one")
	if code != 0 || !strings.Contains(stdout, "Saved to a.tar.zst: 0 MB") || !strings.Contains(stderr, "etcd@"+string(release.Etcd)+" ") || !strings.Contains(stderr, "exported") {
		t.Fatalf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	if again := built(t, "build", "save", "a.tar.zst", "etcd", "--cache-dir", "one"); !again[0].Cached {
		t.Errorf("it was built again: %+v", again)
	}
	t.Setenv("PATH", t.TempDir())
	for i, want := range []string{"loaded", "exists"} {
		code, stdout, stderr := skewrig(t, "build", "load", "a.tar.zst", "--cache-dir", "two")
		if code != 0 || !strings.Contains(stdout, want) || !strings.Contains(stdout, string(release.Etcd)) {
			t.Errorf("import %d: exit code %d, not %q:\n%s%s", i, code, want, stdout, stderr)
		}
	}
	if there := built(t, "build", "load", "a.tar.zst", "--cache-dir", "two"); !there[0].Cached || there[0].Component != build.Etcd {
		t.Errorf("it is %+v", there)
	}
	used := built(t, "build", "components", "etcd", "--cache-dir", "two")
	if abs, err := filepath.Abs("two"); err != nil || !used[0].Cached || !strings.HasPrefix(used[0].Path, abs) {
		t.Errorf("it uses %+v: %v", used, err)
	}
}

// TestComponentsGoThroughAPipe: nothing else is written to standard output.
func TestComponentsGoThroughAPipe(t *testing.T) {
	pretendGo(t)
	t.Chdir(t.TempDir())
	code, archive, stderr := skewrig(t, "build", "save", "-", "etcd", "--cache-dir", "one")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	golden.Write(t, "piped", archive)
	in, err := os.Open("piped")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	stdin := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = stdin }()
	if imported := built(t, "build", "load", "-", "--cache-dir", "two"); imported[0].Cached {
		t.Errorf("it is %+v", imported)
	}
}

// TestAnArchiveThatIsNoUseHere checks that the error names the Go version that made the archive, the one
// in use here, and the remedy.
func TestAnArchiveThatIsNoUseHere(t *testing.T) {
	pretendGo(t)
	t.Chdir(t.TempDir())
	if code, _, stderr := skewrig(t, "build", "save", "a.tar.zst", "etcd", "--cache-dir", "one"); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	golden.Write(t, "cut", readText(t, "a.tar.zst")[:200])
	golden.Write(t, "tree", "no directory")
	t.Setenv("PRETEND_GO", "go1.90.2")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"load a.tar.zst --cache-dir two", exitUsage, fmt.Sprintf("importing a.tar.zst: go1.90.1 %s %s v1 off made etcd@%s, and skewrig would not use it here, where Go is go1.90.2 ", runtime.GOOS, runtime.GOARCH, release.Etcd)},
		{"load a.tar.zst --cache-dir two", exitUsage, "set GOTOOLCHAIN"},
		{"load cut --cache-dir two", exitUsage, "importing cut: it is damaged or cut off (unexpected EOF)"},
		{"load nowhere --cache-dir two", exitUsage, "nowhere: no such file"},
		{"load a.tar.zst --cache-dir tree/two", exitNotJudged, "tree"},
		{"save one etcd --cache-dir one", exitUsage, "one: not a regular file but a directory"},
	} {
		code, stdout, stderr := skewrig(t, append([]string{"build"}, strings.Fields(c.args)...)...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("build %s: exit code %d, want %d and %q:\n%s%s", c.args, code, c.code, c.want, stdout, stderr)
		}
	}
	t.Setenv("KUBEBUILDER_ASSETS", "assets")
	if code, _, stderr := skewrig(t, "build", "save", "b.tar.zst", "etcd", "--cache-dir", "one"); code != exitUsage || !strings.Contains(stderr, "unset KUBEBUILDER_ASSETS") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
