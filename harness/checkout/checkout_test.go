package checkout_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/checkout"
)

// repository makes a checkout with files that are committed, and a tag.
func repository(t *testing.T, tag string, files map[string]string) (dir string, git func(args ...string) string) {
	t.Helper()
	dir = t.TempDir()
	git = func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgSign=false"}, args...)...)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet", "--initial-branch=main")
	write(t, dir, files)
	git("add", "--all")
	git("commit", "--quiet", "--message=first")
	if tag != "" {
		git("tag", tag)
	}
	return dir, git
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, dir, ref, state string) *checkout.Checkout {
	t.Helper()
	c, err := checkout.Open(t.Context(), dir, ref, state)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// files are those below a directory, by path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for path := range maps.Keys(walk(t, dir)) {
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(text)
	}
	return all
}

func walk(t *testing.T, dir string) map[string]os.FileInfo {
	t.Helper()
	all := make(map[string]os.FileInfo)
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			path, err = filepath.Rel(dir, path)
			all[path] = info
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTheFilesAreThoseOfTheWorkTree(t *testing.T) {
	t.Parallel()
	dir, git := repository(t, "v1.90.1", map[string]string{"a.go": "package a\n", "pkg/b.go": "package b\n", "gone.go": "package a\n", ".gitignore": "_output\n"})
	before := git("status", "--porcelain")
	write(t, dir, map[string]string{"pkg/b.go": "package b // mine\n", "pkg/new.go": "package b\n", "_output/big": "x"})
	if err := os.Remove(filepath.Join(dir, "gone.go")); err != nil {
		t.Fatal(err)
	}
	status, index := git("status", "--porcelain"), string(must(os.ReadFile(filepath.Join(dir, ".git", "index"))))
	state, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")

	c := open(t, filepath.Join(dir, "pkg"), "", state)
	if err := c.CopyTo(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a.go": "package a\n", "pkg/b.go": "package b // mine\n", "pkg/new.go": "package b\n", ".gitignore": "_output\n"}
	if got := files(t, to); !maps.Equal(got, want) {
		t.Errorf("the copy has %v, want %v", got, want)
	}
	if !c.Dirty || c.Commit != git("rev-parse", "HEAD") || c.Dir != dir {
		t.Errorf("%+v", c)
	}
	diff, err := c.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"+package b // mine", "b/pkg/new.go", "deleted file"} {
		if !strings.Contains(diff, want) {
			t.Errorf("the diff has no %q:\n%s", want, diff)
		}
	}
	if after := git("status", "--porcelain"); after != status || before != "" {
		t.Errorf("the checkout was touched:\n%s\nand is\n%s", status, after)
	}
	if after := string(must(os.ReadFile(filepath.Join(dir, ".git", "index")))); after != index {
		t.Error("its index was touched")
	}
	if text, err := c.File(t.Context(), "pkg/b.go"); err != nil || string(text) != "package b // mine\n" {
		t.Errorf("pkg/b.go is %q, %v", text, err)
	}
}

func TestOnlyWhatHasChangedIsCopiedAgain(t *testing.T) {
	t.Parallel()
	dir, _ := repository(t, "v1.90.1", map[string]string{"a.go": "package a\n", "b.go": "package b\n"})
	state, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	if err := open(t, dir, "", state).CopyTo(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	write(t, dir, map[string]string{"b.go": "package b // mine\n"})
	write(t, to, map[string]string{"a.go": "package spoiled\n"}) // and what was replaced there comes back
	if err := open(t, dir, "", state).CopyTo(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if got := files(t, to); got["a.go"] != "package a\n" || got["b.go"] != "package b // mine\n" {
		t.Errorf("%v", got)
	}
	for _, name := range []string{"a.go", "b.go"} {
		if err := os.Chtimes(filepath.Join(to, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(t, dir, "", state).CopyTo(t.Context(), to); err != nil { // git learns the times
		t.Fatal(err)
	}
	times := walk(t, to)
	write(t, dir, map[string]string{"b.go": "package b\n"})
	if err := open(t, dir, "", state).CopyTo(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	after := walk(t, to)
	if len(after) != 2 || !after["a.go"].ModTime().Equal(times["a.go"].ModTime()) || after["b.go"].ModTime().Equal(times["b.go"].ModTime()) {
		t.Errorf("the copy has %v, had %v", after, times)
	}
}

func TestACommit(t *testing.T) {
	t.Parallel()
	dir, git := repository(t, "v1.90.1", map[string]string{"a.go": "package a\n"})
	write(t, dir, map[string]string{"a.go": "package a // second\n"})
	git("commit", "--quiet", "--all", "--message=second")
	write(t, dir, map[string]string{"a.go": "package a // not committed\n"})
	for ref, want := range map[string]string{"": "package a // not committed\n", "main": "package a // second\n", "HEAD~1": "package a\n", "v1.90.1": "package a\n"} {
		c := open(t, dir, ref, t.TempDir())
		text, err := c.File(t.Context(), "a.go")
		if err != nil || string(text) != want || c.Dirty != (ref == "") {
			t.Errorf("%q: %q, %+v, %v", ref, text, c, err)
		}
		if diff, err := c.Diff(t.Context()); err != nil || (diff != "") != c.Dirty {
			t.Errorf("%q: the diff is %q, %v", ref, diff, err)
		}
	}
}

// TestVersion has what hack/lib/version.sh of k8s.io/kubernetes makes of commits after tags.
func TestVersion(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{"v1.90.1": "v1.90.1-1+", "v1.91.0-alpha.1": "v1.91.0-alpha.1.1+", "v1.91.0-rc.0": "v1.91.0-rc.0.1+"} {
		dir, git := repository(t, tag, map[string]string{"a.go": "package a\n"})
		atTag := open(t, dir, "", t.TempDir())
		if got, want := string(atTag.Version), tag+"+"+atTag.Tree[:8]; got != want {
			t.Errorf("at the tag: %s, want %s", got, want)
		}
		write(t, dir, map[string]string{"a.go": "package a // changed\n"})
		changed := open(t, dir, "", t.TempDir())
		if got, want := string(changed.Version), tag+"+dirty."+changed.Tree[:8]; got != want {
			t.Errorf("changed after the tag: %s, want %s", got, want)
		}
		git("checkout", "--quiet", "a.go")
		git("commit", "--quiet", "--allow-empty", "--message=second")
		commit := git("rev-parse", "HEAD")[:14]
		write(t, dir, map[string]string{"a.go": "package a // mine\n"})
		for ref, want := range map[string]string{"HEAD": want + commit + ".", "": want + commit + "-dirty."} {
			c := open(t, dir, ref, t.TempDir())
			if got, want := string(c.Version), want+c.Tree[:8]; got != want {
				t.Errorf("%s, %q: %s, want %s", tag, ref, got, want)
			}
			if !c.Version.IsSource() || c.Version.Minor() < 90 {
				t.Errorf("%s is no version of a source", c.Version)
			}
		}
	}
}

func TestWhatIsNoCheckout(t *testing.T) {
	t.Parallel()
	tagged, _ := repository(t, "v1.90.1", map[string]string{"a.go": "package a\n"})
	untagged, _ := repository(t, "", map[string]string{"a.go": "package a\n"})
	for dir, want := range map[string]string{t.TempDir(): "is no git checkout", filepath.Join(tagged, "no"): "is no git checkout", untagged: "no tag v… comes before commit"} {
		if _, err := checkout.Open(t.Context(), dir, "", t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", dir, err, want)
		}
	}
	for ref, want := range map[string]string{"no-such": "has no commit no-such", "--all": "can't name a commit"} {
		if _, err := checkout.Open(t.Context(), tagged, ref, t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", ref, err, want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestAPI: the types of the API are those of the files as they are now.
func TestAPI(t *testing.T) {
	t.Parallel()
	const file = "staging/src/k8s.io/api/core/v1/types.go"
	dir, _ := repository(t, "v1.90.0", map[string]string{
		file: "package v1\n\ntype Probe struct {\n\tHandler `json:\",inline\"`\n\tPeriod int `json:\"period,omitempty\" protobuf:\"a\"`\n\tNone int\n}\n",
		"staging/src/k8s.io/api/core/v1/types_generated.go": "package v1\n\ntype Other struct {\n\tA int `json:\"a\"`\n}\n",
	})
	write(t, dir, map[string]string{file: "package v1\n\ntype (\n\tHandler struct {\n\t\tH3 string `json:\"h3\"`\n\t}\n\tName string\n)\n"})
	for ref, want := range map[string]map[string]bool{
		"HEAD": {"k8s.io/api/core/v1.Probe.period": true},
		"":     {"k8s.io/api/core/v1.Handler.h3": true},
	} {
		api, err := open(t, dir, ref, t.TempDir()).API(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, api.FieldNames()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", ref, diff)
		}
	}
	write(t, dir, map[string]string{file: "package v1\n\ntype {\n"})
	if _, err := open(t, dir, "", t.TempDir()).API(t.Context()); err == nil || !strings.Contains(err.Error(), file+":3:6") {
		t.Errorf("of a file that is no Go: %v", err)
	}
}

// TestNoProgramOfTheConfigurationRuns: who reads a checkout of others runs nothing of theirs.
func TestNoProgramOfTheConfigurationRuns(t *testing.T) {
	t.Parallel()
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>"+ran+"\ncat\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	dir, git := repository(t, "v1.90.1", map[string]string{"a.go": "package a\n", "b.txt": "b\n"})
	inner, _ := repository(t, "", map[string]string{"c.txt": "c\n"})
	git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub")
	git("commit", "--quiet", "--message=second")
	for _, in := range []string{".git", ".git/modules/sub"} {
		config := filepath.Join(dir, in, "config")
		text := string(must(os.ReadFile(config))) + "[filter \"x\"]\n\tclean = " + program + "\n\tsmudge = " + program + "\n\tprocess = " + program +
			"\n[core]\n\tfsmonitor = " + program + "\n\tattributesFile = " + filepath.Join(dir, in, "attributes") + "\n[diff \"x\"]\n\ttextconv = " + program + "\n\tcommand = " + program + "\n"
		hook := filepath.Join(dir, in, "hooks", "post-index-change")
		write(t, filepath.Join(dir, in), map[string]string{"config": text, "attributes": "* filter=x diff=x\n", "info/attributes": "* filter=x diff=x\n", "hooks/post-index-change": "#!/bin/sh\n" + program + "\n"})
		if err := os.Chmod(hook, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, map[string]string{".gitattributes": "* filter=x diff=x\n", "b.txt": "changed\n", "sub/c.txt": "changed\n"})
	c := open(t, dir, "", t.TempDir())
	_, err := c.Diff(t.Context())
	if err == nil {
		_, err = c.File(t.Context(), "b.txt")
	}
	if err == nil {
		err = c.CopyTo(t.Context(), filepath.Join(t.TempDir(), "copy"))
	}
	if err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("these ran:\n%s", text)
	}
}

// TestOtherCheckouts: work trees, shallow clones and checkouts with a split index are read as others are.
func TestOtherCheckouts(t *testing.T) {
	t.Parallel()
	origin, git := repository(t, "v1.90.1", map[string]string{"a.go": "package a\n"})
	more := filepath.Join(t.TempDir(), "more")
	git("worktree", "add", "--quiet", "--detach", more)
	shallow := filepath.Join(t.TempDir(), "shallow")
	git("clone", "--quiet", "--depth=1", "--branch=v1.90.1", "file://"+origin, shallow)
	split := filepath.Join(t.TempDir(), "split")
	git("clone", "--quiet", origin, split)
	git("-C", split, "update-index", "--split-index")
	for name, dir := range map[string]string{"a work tree": more, "a shallow clone": shallow, "a split index": split} {
		c := open(t, dir, "", t.TempDir())
		if c.Dirty || c.Commit != git("rev-parse", "HEAD") || !strings.HasPrefix(string(c.Version), "v1.90.1+") {
			t.Errorf("%s: %+v", name, c)
		}
		write(t, dir, map[string]string{".git-not": "x", "ignored": "x"})
		exclude := git("-C", dir, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
		write(t, "", map[string]string{exclude: ".git-not\nignored\n"})
		if c := open(t, dir, "", t.TempDir()); c.Dirty {
			t.Errorf("%s: what info/exclude ignores is part of it", name)
		}
	}
}
