package build

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/build/internal/packglue/pack"
	"github.com/skewrig/skewrig/harness/release"
)

func TestTheGlueArchiveIsCurrent(t *testing.T) {
	packed, err := pack.Dir("../engine")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(glueArchive), string(packed)); diff != "" {
		t.Errorf("glue.txtar is not what harness/engine holds; run make generate (-archive +engine):\n%s", diff)
	}
}

func TestSupportedReleasesAreLocked(t *testing.T) {
	for _, v := range release.Supported() {
		l, err := readLock(locks, "locks/"+string(v))
		if err != nil {
			t.Errorf("%s: %v", v, err)
			continue
		}
		for _, want := range []string{"k8s.io/kubernetes " + string(v), "k8s.io/api => k8s.io/api v0." + strings.TrimPrefix(string(v), "v1.")} {
			if !strings.Contains(string(l.mod), want) {
				t.Errorf("the lock of %s does not say %q", v, want)
			}
		}
		if len(l.sum) == 0 {
			t.Errorf("the lock of %s has no sums", v)
		}
	}
	others := []Target{{Component: Etcd, Version: release.Etcd}}
	for _, v := range release.DependencyWatchdog() {
		others = append(others, Target{Component: DependencyWatchdog, Version: v})
	}
	for _, other := range others {
		if _, err := readLock(locks, "locks/"+lockName(other)); err != nil {
			t.Errorf("%s: %v", other, err)
		}
	}
}

// TestProgressNamesStandIns: a module that can't be had is compiled in another
// version, and the source of the binary says so.
func TestProgressNamesStandIns(t *testing.T) {
	target := Target{Component: DependencyWatchdog, Version: "v1.8.0"}
	mod, err := lockTool([]byte("module github.com/gardener/dependency-watchdog\n\ngo 1.25.9\n"), target)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"go 1.25.9", "github.com/gardener/gardener => github.com/gardener/gardener v1.145.0"} {
		if !strings.Contains(string(mod), want) {
			t.Errorf("the lock does not say %q:\n%s", want, mod)
		}
	}
	const want = "github.com/gardener/dependency-watchdog@v1.8.0 with github.com/gardener/gardener@v1.145.0, github.com/prometheus/client_golang@v1.23.2"
	if got := target.source(); got != want {
		t.Errorf("the source is %q, want %q", got, want)
	}
	if got := (Target{Component: Kubelet, Version: "v1.90.1"}).source(); got != "k8s.io/kubernetes@v1.90.1" {
		t.Errorf("the source is %q, though nothing stands in", got)
	}
}

// TestAProgramThatIsSomethingElse, such as this test, is not taken for a
// component that does not tell its version.
func TestAProgramThatIsSomethingElse(t *testing.T) {
	if v, err := askVersion(t.Context(), DependencyWatchdog, os.Args[0]); err == nil || !strings.Contains(err.Error(), "is not a dependency-watchdog") {
		t.Errorf("%s, %v", v, err)
	}
}

func TestLockKubernetes(t *testing.T) {
	const goMod = `module k8s.io/kubernetes

go 1.26.0

godebug default=go1.26

require (
	github.com/spf13/pflag v1.0.10
	k8s.io/api v0.0.0
	k8s.io/cri-streaming v0.0.0
)

require cel.dev/expr v0.25.1 // indirect

replace k8s.io/api => ./staging/src/k8s.io/api

replace k8s.io/cri-streaming => ./staging/src/k8s.io/cri-streaming
`
	got, err := lockKubernetes([]byte(goMod), Target{Component: Kubelet, Version: "v1.38.0-alpha.0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"module github.com/skewrig/skewrig/harness/engine", "go 1.26.0", "godebug default=go1.26",
		"k8s.io/kubernetes v1.38.0-alpha.0", "github.com/spf13/pflag v1.0.10", "cel.dev/expr v0.25.1 // indirect",
		"k8s.io/api => k8s.io/api v0.38.0-alpha.0", "k8s.io/cri-streaming => k8s.io/cri-streaming v0.37.1", "k8s.io/kubernetes/cmd/kube-apiserver",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the lock does not say %q:\n%s", want, got)
		}
	}

	_, err = lockKubernetes([]byte("module k8s.io/kubernetes\n\ngo 1.26\n\nreplace example.com/x => ../x\n"), Target{Component: Kubelet, Version: "v1.38.0"})
	if err == nil || !strings.Contains(err.Error(), "example.com/x") {
		t.Errorf("error %v, want one that names the replacement that can't be resolved", err)
	}
}

func TestParseTargets(t *testing.T) {
	for in, want := range map[string]string{
		"kubelet@v1.35.4": "kubelet@v1.35.4",
		"v1.34.4":         "etcd@v3.7.0 kube-apiserver@v1.34.4 kube-controller-manager@v1.34.4 kube-scheduler@v1.34.4 kubelet@v1.34.4",
		"kubelet":         "kubelet@" + string(release.Newest) + " kubelet@" + string(release.Previous),
		"etcd":            "etcd@" + string(release.Etcd),
		"kubelet@newest":  "kubelet@" + string(release.Newest),
		"kubelet@" + release.Previous.MajorMinor(): "kubelet@" + string(release.Previous),
		"etcd@newest":    `error: "newest" is not a release: write it in full, like v1.36.0`,
		"kubelet@1.35.1": `error: "1.35.1" is not a release: did you mean v1.35.1?`,
		"v1.90":          `error: "v1.90" is not a release: write it in full, like v1.36.0, as newest, previous or n-2, or as a minor version that is supported`,
		"kube-proxy@v1.90.1": `error: "kube-proxy" is no component; components: ` +
			`etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, dependency-watchdog, grpc-health-probe, typed-client, kubectl, kubeadm, node-e2e`,
		"kublet": `error: "kublet" is no component: did you mean kubelet? Components: ` +
			`etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, dependency-watchdog, grpc-health-probe, typed-client, kubectl, kubeadm, node-e2e`,
		"dependency-watchdog": "dependency-watchdog@v1.2.3 dependency-watchdog@v1.8.0",
		"grpc-health-probe":   "grpc-health-probe@v0.4.61",
	} {
		t.Run(in, func(t *testing.T) {
			targets, err := ParseTargets(in, release.Releases{})
			var words []string
			for _, target := range targets {
				words = append(words, target.String())
			}
			got := strings.Join(words, " ")
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

var testRecipe = []string{"a test"}

// testEntry is a cache entry whose "compiler" writes a text.
func testEntry(t *testing.T, dir string) entry {
	t.Helper()
	return store{dir: dir}.entry(Target{Component: Kubelet, Version: "v1.90.1"}, recipeKey(testRecipe))
}

func fill(t *testing.T, e entry, text string) Binary {
	t.Helper()
	b, err := e.create(&recipe{lines: testRecipe}, func(out string) error {
		return os.WriteFile(out, []byte(text), 0o700)
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAnEntryIsTheSameWhenLoadedAgain(t *testing.T) {
	e := testEntry(t, t.TempDir())
	if _, err := e.load(); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("loading what is not there: %v", err)
	}
	built := fill(t, e, "a kubelet")
	loaded, err := e.load()
	if err != nil {
		t.Fatal(err)
	}
	built.Cached = true
	if diff := cmp.Diff(built, loaded); diff != "" {
		t.Errorf("-built +loaded:\n%s", diff)
	}
}

func TestADamagedEntryIsRefused(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"truncated": func(path string) error { return os.Truncate(path, 3) },
		"tampered":  func(path string) error { return os.WriteFile(path, []byte("b kubelet"), 0o700) },
		"missing":   os.Remove,
		"of another recipe": func(path string) error {
			manifest := filepath.Join(filepath.Dir(path), "entry.json")
			text, err := os.ReadFile(manifest)
			return errors.Join(err, os.WriteFile(manifest, []byte(strings.Replace(string(text), "a test", "a trick", 1)), 0o600))
		},
		"manifest": func(path string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(path), "entry.json"), []byte(`{"dig`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := testEntry(t, t.TempDir())
			b := fill(t, e, "a kubelet")
			if err := damage(b.Path); err != nil {
				t.Fatal(err)
			}
			_, err := e.load()
			if err == nil || !strings.Contains(err.Error(), e.dir) || !strings.Contains(err.Error(), "remove that directory") {
				t.Errorf("loading returned %v, want an error that names the entry and what to do", err)
			}
		})
	}
}

func TestAFailedBuildLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	e := testEntry(t, dir)
	_, err := e.create(&recipe{}, func(out string) error {
		return errors.Join(os.WriteFile(out, []byte("half"), 0o700), errors.New("no space left on device"))
	})
	if err == nil {
		t.Fatal("create succeeded")
	}
	if _, err := e.load(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("loading after a failed build: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(e.dir))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestConcurrentBuildsWaitForEachOther(t *testing.T) {
	e := testEntry(t, t.TempDir())
	unlock, err := e.lock(t.Context(), func() { t.Error("waited for a lock that is free") })
	if err != nil {
		t.Fatal(err)
	}
	waiting, second := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		release, err := e.lock(t.Context(), func() { close(waiting) })
		if err != nil {
			t.Error(err)
			return
		}
		defer release()
		close(second)
	})
	<-waiting
	select {
	case <-second:
		t.Error("two builds hold the lock")
	default:
	}
	unlock()
	group.Wait()
}

func TestListAndPrune(t *testing.T) {
	dir := t.TempDir()
	fill(t, testEntry(t, dir), "a kubelet")
	old := store{dir: dir}.entry(Target{Component: Kubelet, Version: "v1.89.3"}, recipeKey(testRecipe))
	fill(t, old, "an old kubelet")
	left, busy := filepath.Join(filepath.Dir(old.dir), incomplete+"1"), filepath.Join(filepath.Dir(old.dir), incomplete+"2")
	longAgo := time.Now().Add(-2 * abandoned)
	if err := errors.Join(os.Mkdir(left, 0o700), os.Mkdir(busy, 0o700), os.Chtimes(left, longAgo, longAgo)); err != nil {
		t.Fatal(err)
	}

	b := &Builder{Dir: dir}
	entries, err := b.List()
	if err != nil || len(entries) != 2 {
		t.Fatalf("List() = %v, %v, want two entries", entries, err)
	}
	removed, err := b.Prune(func(e Entry) bool { return e.Target.Version == "v1.90.1" })
	if err != nil || len(removed) != 1 || removed[0].Target.Version != "v1.89.3" {
		t.Fatalf("Prune removed %v, %v", removed, err)
	}
	for _, gone := range []string{old.dir, left} {
		if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there", gone)
		}
	}
	if _, err := os.Stat(busy); err != nil {
		t.Errorf("a directory that may be in use was removed: %v", err)
	}
	if entries, err := b.List(); err != nil || len(entries) != 1 {
		t.Errorf("List() = %v, %v, want one entry", entries, err)
	}
}

func TestTheKeyFollowsWhatMatters(t *testing.T) {
	base := func() *recipe {
		return &recipe{
			target: Target{Component: Kubelet, Version: "v1.90.1"}, source: Kubelet.source(),
			lines: []string{"toolchain go1.26", "lock a", "glue b"},
		}
	}
	changed := base()
	changed.lines[1] = "lock c"
	if first, second := base().key(), base().key(); first != second {
		t.Errorf("the same recipe has the keys %s and %s", first, second)
	}
	if base().key() == changed.key() {
		t.Error("another lock has the same key")
	}

	tree := []string{"lock a", "glue b", "oom watcher: none", "overlay x y"}
	server := &recipe{source: APIServer.source(), tree: tree}
	if diff := cmp.Diff([]string{"lock a", "overlay x y"}, server.ingredients()); diff != "" {
		t.Errorf("an API server depends on our kubelet main (-want +got):\n%s", diff)
	}
}

func TestAMainIsMadeOfItsOwnFiles(t *testing.T) {
	t.Parallel()
	kubelet, client := string(Kubelet.source().glueFiles()), string(TypedClient.source().glueFiles())
	if !strings.Contains(kubelet, "-- kubelet/main.go --") || strings.Contains(kubelet, "-- typedclient/") {
		t.Errorf("a kubelet is made of:\n%s", kubelet)
	}
	if !strings.Contains(client, "-- typedclient/main.go --") || strings.Contains(client, "-- kubelet/") {
		t.Errorf("a typed client is made of:\n%s", client)
	}
	if specs := string(NodeE2E.source().glueFiles()); !strings.Contains(specs, "-- nodee2e/main.go --") || strings.Contains(specs, "-- kubelet/") {
		t.Errorf("the specs are made of:\n%s", specs)
	}
	if server := APIServer.source().glueFiles(); len(server) > 0 {
		t.Errorf("an API server is made of:\n%s", server)
	}
}

func TestTheSpecsHaveALockOfTheirOwn(t *testing.T) {
	t.Parallel()
	specs := Target{Component: NodeE2E, Version: "v1.90.1"}
	if got := lockName(specs); got != "node-e2e-v1.90.1" {
		t.Errorf("the lock of the specs is called %s", got)
	}
	mod, err := lockKubernetes([]byte("module k8s.io/kubernetes\n\ngo 1.26\n"), specs)
	if err != nil || strings.Contains(string(mod), "tool") {
		t.Errorf("their lock has the tools of the release (error %v):\n%s", err, mod)
	}
	var files []string
	for _, f := range Kubelet.source().mains() {
		files = append(files, f.Name)
	}
	if slices.Contains(files, "nodee2e/main.go") {
		t.Errorf("the lock of a kubelet is made for %v", files)
	}
}

func TestLinkTreeReplacesSingleFiles(t *testing.T) {
	src, dst := t.TempDir(), filepath.Join(t.TempDir(), "tree")
	for path, text := range map[string]string{
		"go.mod": "module m", "pkg/a/a.go": "package a", "pkg/a/b.go": "package a // b", "pkg/c/c.go": "package c",
	} {
		full := filepath.Join(src, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := linkTree(src, dst, map[string][]byte{"pkg/a/a.go": []byte("package a // mine")}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"go.mod": "module m", "pkg/a/a.go": "package a // mine", "pkg/a/b.go": "package a // b", "pkg/c/c.go": "package c",
	} {
		got, err := os.ReadFile(filepath.Join(dst, path))
		if err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", path, got, err, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(src, "pkg/a/a.go")); err != nil || string(text) != "package a" {
		t.Errorf("the source was changed: %q, %v", text, err)
	}
}

// TestAWorkTreeOutlivesNoModuleCache: after `go clean -modcache` its links lead
// nowhere, and it is not used any more.
func TestAWorkTreeOutlivesNoModuleCache(t *testing.T) {
	t.Parallel()
	dir, module := t.TempDir(), t.TempDir()
	intact := func() bool { return isIntact(dir, Target{Component: Kubelet, Version: "v1.90.1"}) }
	if intact() {
		t.Error("a tree without the release is intact")
	}
	if err := os.WriteFile(filepath.Join(module, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := linkTree(module, filepath.Join(dir, moduleDir), nil); err != nil {
		t.Fatal(err)
	}
	if !intact() {
		t.Error("the tree is not intact")
	}
	if err := os.RemoveAll(module); err != nil {
		t.Fatal(err)
	}
	if intact() {
		t.Error("a tree whose links lead nowhere is intact")
	}
	if !isIntact(dir, Target{Component: Etcd}) || isIntact(filepath.Join(dir, "none"), Target{Component: Etcd}) {
		t.Error("etcd's tree is its directory")
	}
}

func TestConstraintsAreDropped(t *testing.T) {
	const text = "//go:build !linux\n// +build !linux\n\n// Package oom watches.\npackage oom\n"
	if got := string(withoutConstraint([]byte(text))); got != "\n// Package oom watches.\npackage oom\n" {
		t.Errorf("left is %q", got)
	}
}

// TestAPatchIsKnownByItsContent: where the replaced file lies does not matter.
func TestAPatchIsKnownByItsContent(t *testing.T) {
	e := testEntry(t, t.TempDir())
	e.target.Overlay = map[string]string{"pkg/a.go": "/here/a.go"}
	fill(t, e, "a patched kubelet")
	e.target.Overlay = map[string]string{"pkg/a.go": "/there/a.go"}
	if _, err := e.load(); err != nil {
		t.Error(err)
	}
}

func TestGivenBinariesTellTheirVersion(t *testing.T) {
	dir := t.TempDir()
	script := func(name, says string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho '"+says+"'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	script("etcd", "etcd Version: 3.6.5")
	script("kube-apiserver", "Kubernetes v1.37.2")
	given, err := Assets(t.Context(), dir)
	if err != nil || len(given) != 2 || given[0].Version != "v3.6.5" || given[1].Version != "v1.37.2" {
		t.Fatalf("Assets() = %+v, %v", given, err)
	}

	dev := script("kubelet", "Kubernetes v1.38.0-alpha.0.12+0123456789abcd-dirty")
	b := &Builder{Dir: filepath.Join(dir, "cache"), Given: []Given{{Component: Kubelet, Version: "v1.90.1", Path: dev}}}
	binary, err := b.Binary(t.Context(), Target{Component: Kubelet, Version: "v1.90.1"})
	if err != nil || binary.Source != "given" || binary.Version != "v1.38.0-alpha.0.12" {
		t.Errorf("Binary() = %+v, %v, want what the binary says of itself", binary, err)
	}

	mute := script("mute", "hello")
	if _, err := Describe(t.Context(), Kubelet, mute); err == nil || !strings.Contains(err.Error(), mute) {
		t.Errorf("describing a binary that does not tell: %v", err)
	}
}
