package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
	"mvdan.cc/sh/v3/syntax"

	"github.com/skewrig/skewrig/harness/golden"
)

// published is the release that the proxy of these tests has.
var published = module.Version{Path: "github.com/skewrig/skewrig", Version: "v0.90.1"}

// source is a file of the repository, as it is in the module that is published.
type source string

func (s source) Path() string                 { return string(s) }
func (s source) Lstat() (fs.FileInfo, error)  { return os.Lstat(filepath.Join(root, string(s))) }
func (s source) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(root, string(s))) }

// sources are the files of the repository, as they are now.
func sources(t *testing.T) (files []zip.File) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := source(name).Lstat(); err == nil { // it may be removed and not committed yet
			files = append(files, source(name))
		}
	}
	return files
}

// proxy writes a module proxy that has the repository as a release.
func proxy(t *testing.T) (dir string) {
	t.Helper()
	var archive bytes.Buffer
	if err := zip.Create(&archive, published, sources(t)); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	versions := filepath.Join(dir, filepath.FromSlash(published.Path), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list": published.Version + "\n", published.Version + ".info": fmt.Sprintf(`{"Version": %q}`, published.Version),
		published.Version + ".mod": readText(t, filepath.Join(root, "go.mod")), published.Version + ".zip": archive.String(),
	} {
		golden.Write(t, filepath.Join(versions, name), text)
	}
	return dir
}

// TestTheModuleCanBePublished: the Go command installs no program of a module that
// replaces others, and no module with files that a zip of it may not have.
func TestTheModuleCanBePublished(t *testing.T) {
	t.Parallel()
	file, err := modfile.Parse("go.mod", []byte(readText(t, filepath.Join(root, "go.mod"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Replace)+len(file.Exclude) > 0 || file.Module.Mod.Path != published.Path {
		t.Errorf("module %s replaces %d and excludes %d others: go install NAME@latest refuses that", file.Module.Mod.Path, len(file.Replace), len(file.Exclude))
	}
	checked, err := zip.CheckFiles(sources(t))
	if err != nil || checked.Err() != nil {
		t.Errorf("%v, %v", err, checked.Err())
	}
	if len(checked.Valid) < 500 {
		t.Errorf("the module has %d files", len(checked.Valid))
	}
}

// fromProxy is an environment in which the Go command has skewrig from a proxy that is a
// directory. Other modules are those of the local module cache.
func fromProxy(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	local := filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
	return append(os.Environ(), "GOMODCACHE="+t.TempDir(), "GOPROXY=file://"+proxy(t)+",file://"+local,
		"CGO_ENABLED=0", // as in the image, so that both compile it once
		"GOSUMDB=off", "GOFLAGS=-modcacherw -trimpath", "GOWORK=off", "GO111MODULE=on")
}

// TestInAModuleOfOthers: what from-go.md and a test with missing components say about
// building works in a module that requires skewtest.
func TestInAModuleOfOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles all that skewrig is made of")
	}
	dir, env := t.TempDir(), fromProxy(t)
	golden.Write(t, filepath.Join(dir, "go.mod"), "module example.com/mine\n\ngo 1.26\n")
	golden.Write(t, filepath.Join(dir, "mine_test.go"), "package mine\n\nimport _ \"github.com/skewrig/skewrig/skewtest\"\n")
	for _, command := range []string{
		"go get github.com/skewrig/skewrig/skewtest",
		"go run github.com/skewrig/skewrig/cmd/skewrig@" + published.Version + " build --list",
		"go get -tool github.com/skewrig/skewrig/cmd/skewrig",
		"go list -deps tool", // which is what go tool skewrig compiles
	} {
		words := strings.Fields(command)
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, env
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, said)
		}
	}
}

// TestGoInstall installs skewrig from a proxy, and uses it in an empty directory, without
// Go.
func TestGoInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles all that skewrig is made of")
	}
	bin, empty := t.TempDir(), t.TempDir()
	env := fromProxy(t)
	install := exec.CommandContext(t.Context(), "go", "install", published.Path+"/cmd/skewrig@latest")
	install.Dir = empty
	install.Env = append(env, "GOBIN="+bin)
	if said, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	skewrig := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "skewrig"), args...)
		cmd.Dir = empty
		cmd.Env = []string{"HOME=" + empty, "PATH="}
		said, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("skewrig %s: %v\n%s", strings.Join(args, " "), err, said)
		}
		return string(said)
	}
	for command, want := range map[string]string{
		"--version":                       published.Version,
		"list":                            "kep-4939/skew/older-kubelet/apiserver:",
		"plan kep-4188/gate/toggled/**":   "kubelet:reference",
		"docs":                            "own-catalog",
		"docs start":                      "go install",
		"docs language":                   "# Axes and cells",
		"docs examples/payments/pod.yaml": "name: payments",
		"schema config":                   "skewrig.yaml",
		"simulate dwd/**":                 "dwd/",
	} {
		if said := skewrig(strings.Fields(command)...); !strings.Contains(said, want) {
			t.Errorf("skewrig %s does not say %q:\n%.2000s", command, want, said)
		}
	}
	skewrig("init")
	if said := skewrig("plan"); !strings.Contains(said, "mine/web/upgrade/kubelet:") {
		t.Errorf("the plan of the new catalog is\n%s", said)
	}
}

// firstMinutes is the page with a session from go install to a red cell, below a heading.
var firstMinutes = filepath.Join("docs", "start.md")

const firstSession = "## Your pod, red, in ten minutes\n"

// sessionIn is the part of a page that has the session, and how many lines are before it.
func sessionIn(page string) (session string, before int) {
	above, rest, _ := strings.Cut(page, firstSession)
	session, _, _ = strings.Cut(rest, "\n## ")
	return session, strings.Count(above, "\n") + 1
}

// TestGoInstallAndARedCell runs the commands of the page in their order, in an empty
// directory and on real components, and compares what they print with the page: exit codes
// and the sentence of the cause, but no times.
func TestGoInstallAndARedCell(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles all that skewrig is made of, and runs cells")
	}
	var script, want strings.Builder
	script.WriteString("exec 2>&1\n")
	session, _ := sessionIn(readText(t, filepath.Join(root, firstMinutes)))
	for _, f := range parseMarkdown(releases.ReplaceAllStringFunc(session, ofToday)).fences {
		switch f.language {
		case "sh":
			script.WriteString("{ " + f.text + "} > setup.log 2>&1 || { cat setup.log; exit 9; }\n")
		case "":
			want.WriteString(f.text)
			for command := range strings.Lines(typed(f.text)) {
				said, err := syntax.Quote("$ "+strings.TrimSpace(command), syntax.LangBash)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&script, "code=$?; printf '%%s\\n' %s; (exit $code); %s", said, command)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	cmd.Dir, cmd.Env = t.TempDir(), append(fromProxy(t), "GOBIN=", "GOPATH="+t.TempDir())
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	const cause = "HTTP/2 preface: no TLS, first record does not look like a TLS handshake"
	if !strings.Contains(want.String(), cause) || !strings.Contains(string(said), cause) {
		t.Errorf("the page, or what is printed, does not say %q", cause)
	}
	if !matches(untimed(want.String()), untimed(string(said))) {
		t.Errorf("this is what is printed:\n%s", said)
	}
}

var measured = regexp.MustCompile(`\b\d+ of \d+ attempts\b|\(\d+\)|\b(\d+m)?\d+(\.\d+)? ?s\b|handshake\. .*`)

// untimed is a text without what differs from run to run, and without the spaces that
// align it.
func untimed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(measured.ReplaceAllString(text, "~")) {
		b.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return b.String()
}
