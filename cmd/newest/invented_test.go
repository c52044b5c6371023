package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/tools/txtar"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
)

// inventedKubernetes is one of a minor version that there isn't. It is a module proxy.
type inventedKubernetes struct {
	version release.Version
	// modules are the files of each, by their paths.
	modules map[string]map[string]string
	known   []string // the paths of modules
}

// newInvented is the one that follows a release.
func newInvented(t *testing.T, after release.Version) *inventedKubernetes {
	t.Helper()
	k := &inventedKubernetes{version: release.Version(fmt.Sprintf("v1.%d.0", after.Minor()+1)), modules: make(map[string]map[string]string)}
	engine, err := modfile.Parse("go.mod", []byte(read(t, filepath.FromSlash("../../harness/engine/go.mod"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range engine.Require {
		k.known = append(k.known, r.Mod.Path)
	}
	own, err := txtar.ParseFile("testdata/kubernetes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range own.Files {
		k.add(path.Dir(f.Name), strings.ReplaceAll(string(f.Data), "MINOR", strconv.Itoa(k.version.Minor())))
	}
	mains, err := txtar.ParseFile(filepath.FromSlash("../../harness/build/glue.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range mains.Files {
		if !strings.HasSuffix(f.Name, ".go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range parsed.Imports {
			if imported, err := strconv.Unquote(i.Path.Value); err == nil && strings.Contains(strings.Split(imported, "/")[0], ".") && !strings.HasPrefix(imported, "github.com/skewrig/") {
				k.add(imported, "package stub\n")
			}
		}
	}
	for _, tool := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubelet", "kubeadm"} {
		k.add("k8s.io/kubernetes/cmd/"+tool, "package main\n\nfunc main() {}\n")
	}
	return k
}

// add adds a package, unless it is there.
func (k *inventedKubernetes) add(imported, text string) {
	of := k.moduleOf(imported)
	if k.modules[of] == nil {
		k.modules[of] = make(map[string]string)
	}
	name := path.Join(strings.TrimPrefix(strings.TrimPrefix(imported, of), "/"), "p.go")
	if _, there := k.modules[of][name]; !there {
		k.modules[of][name] = text
	}
}

// moduleOf is the module of a package, of those that skewrig's mains are compiled with.
func (k *inventedKubernetes) moduleOf(imported string) (longest string) {
	for _, m := range k.known {
		if (imported == m || strings.HasPrefix(imported, m+"/")) && len(m) > len(longest) {
			longest = m
		}
	}
	return longest
}

// versionOf is the version that it requires of a module.
func (k *inventedKubernetes) versionOf(path string) string {
	switch {
	case path == "k8s.io/kubernetes":
		return string(k.version)
	case staging(path):
		return "v0." + strings.TrimPrefix(string(k.version), "v1.")
	}
	_, major, _ := module.SplitPathVersion(path)
	return strings.TrimLeft(cmp.Or(major, "/v1"), "/.") + ".0.0"
}

func staging(path string) bool {
	_, major, _ := module.SplitPathVersion(path)
	return strings.HasPrefix(path, "k8s.io/") && path != "k8s.io/kubernetes" && major == "" // klog/v2 is no staging module
}

// goMod is the go.mod of a module. That of a release replaces the staging modules by paths.
func (k *inventedKubernetes) goMod(of string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n\ngo 1.26.0\n", of)
	for other := range k.modules {
		switch {
		case of != "k8s.io/kubernetes" || other == of:
		case staging(other):
			fmt.Fprintf(&b, "require %s v0.0.0\nreplace %[1]s => ./staging/src/%[1]s\n", other)
		default:
			fmt.Fprintf(&b, "require %s %s\n", other, k.versionOf(other))
		}
	}
	return b.String()
}

// ServeHTTP is the module proxy.
func (k *inventedKubernetes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	of, file, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/@v/")
	of, _ = module.UnescapePath(of)
	files, there := k.modules[of]
	version := k.versionOf(of)
	switch file {
	case "list":
		fmt.Fprintln(w, version)
		return
	case version + ".info":
		if there {
			fmt.Fprintf(w, `{"Version": %q}`, version)
			return
		}
	case version + ".mod":
		if there {
			fmt.Fprint(w, k.goMod(of))
			return
		}
	case version + ".zip":
		if there {
			_, _ = w.Write(zipped(of+"@"+version, k.goMod(of), files))
			return
		}
	}
	http.Error(w, "not found", http.StatusNotFound)
}

func zipped(prefix, goMod string, files map[string]string) []byte {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	add := func(name, text string) {
		if f, err := archive.Create(prefix + "/" + name); err == nil {
			_, _ = f.Write([]byte(text))
		}
	}
	add("go.mod", goMod)
	for name, text := range files {
		add(name, text)
	}
	_ = archive.Close()
	return b.Bytes()
}

// repository is a copy of what newest reads and writes, as committed, in the working directory.
func repository(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, part := range []string{tablePath, gatesPath, locksPath} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(part)), 0o700); err != nil {
			t.Fatal(err)
		}
		from := filepath.Join("..", "..", filepath.FromSlash(part))
		if info, err := os.Stat(from); err != nil || !info.IsDir() {
			golden.Write(t, filepath.Join(dir, part), read(t, from))
			continue
		}
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "all"}} {
		if said, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, said)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestANewMinorVersion: an invented Kubernetes becomes the newest release: its lock, its gates and the table are written,
// and what changed is printed. After an interrupt, the same is done again, and says the same.
func TestANewMinorVersion(t *testing.T) {
	k := newInvented(t, release.Newest)
	repository(t)
	proxy := httptest.NewServer(k)
	t.Cleanup(proxy.Close)
	t.Setenv("GOPROXY", proxy.URL)
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", t.TempDir())
	said := make([]string, 2)
	for i := range said {
		var out strings.Builder
		m := mover{newest: string(k.version), out: &out}
		m.builder.Dir = t.TempDir()
		if err := m.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		said[i] = out.String()
	}
	if said[0] != said[1] {
		t.Errorf("it says something else when it is run again:\n%s\nwas\n%s", said[1], said[0])
	}
	for _, want := range []string{
		fmt.Sprintf("newest:   %s, was %s\nprevious: %[2]s, was %s\n", k.version, release.Newest, release.Previous),
		"  InventedControllers: ALPHA, off\n", "  GRPCContainerProbeTLS: BETA, on, needs InventedProbes, was ALPHA, off\n", "  EnvFiles: was ",
		"  PodsAPI: GA, on, locked, was BETA, on\n",
		fmt.Sprintf("  kep-4939/skew/older-kubelet/apiserver:%s/kubelet:%s\n", k.version, release.Newest),
		"Known deviations with an open range: ", "Cells that the pair can't run: ", "PodsAPI can't be false: " + string(k.version) + " locks it to true",
	} {
		if !strings.Contains(said[0], want) {
			t.Errorf("it does not say %q:\n%s", want, said[0])
		}
	}
	moved, err := parseTable(read(t, tablePath))
	if err != nil || moved.newest != k.version || moved.previous != release.Newest || moved.older[0] != release.Previous {
		t.Errorf("the table is %+v, %v", moved, err)
	}
	if gates, err := release.ParseGates(read(t, gatesFile(k.version))); err != nil || len(gates) != 5 {
		t.Errorf("its gates are %+v, %v", gates, err)
	}
	if lock := read(t, filepath.Join(locksPath, string(k.version)+".mod")); !strings.Contains(lock, "k8s.io/kubernetes "+string(k.version)) {
		t.Errorf("its lock is\n%s", lock)
	}
}
