package branch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/skewrig/skewrig/harness/release"
)

// published makes a git checkout of a release out of what is published of it: the module
// k8s.io/kubernetes, and in staging/src the modules that are published on their own. One that
// can't be had is that of the newest release, or, if that can't be had either, only a go.mod: no
// component needs it.
func published(t *testing.T, v release.Version) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if !fetch(t, "k8s.io/kubernetes@"+string(v), dir) {
		t.Fatalf("%s can't be had", v)
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Replace {
		to := filepath.Join(dir, r.New.Path)
		if fetch(t, staged(r.Old.Path, v), to) {
			continue
		}
		t.Logf("%s has no %s", v, r.Old.Path)
		if fetch(t, staged(r.Old.Path, release.Newest), to) {
			continue
		}
		err := errors.Join(os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, "go.mod"), fmt.Appendf(nil, "module %s\n\ngo %s\n", r.Old.Path, file.Go.Version), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	git(t, dir, "add", "--all", "--force")
	git(t, dir, "commit", "--quiet", "--message=release")
	git(t, dir, "tag", string(v))
	return dir
}

// staged is a module of staging/src, as it is published with a release.
func staged(module string, v release.Version) string {
	return module + "@v0." + strings.TrimPrefix(string(v), "v1.")
}

// fetch copies a module to a directory, and reports whether it can be had.
func fetch(t *testing.T, module, to string) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GO111MODULE=on", "GOWORK=off", "GOFLAGS=-mod=mod")
	out, _ := cmd.Output() // the answer has the error
	var answer struct{ Dir, Error string }
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%s: %v\n%s", module, err, out)
	}
	if answer.Error != "" {
		return false
	}
	if err := os.CopyFS(to, os.DirFS(answer.Dir)); err != nil {
		t.Fatal(err)
	}
	return true
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgSign=false", "-c", "core.autocrlf=false", "-c", "core.safecrlf=false"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}
