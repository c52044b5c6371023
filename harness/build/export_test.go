package build

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/release"
)

// pretend has a builder believe that it built a target.
func pretend(tb testing.TB, b *Builder, target Target, binary string) Binary {
	tb.Helper()
	s, recipe, err := b.prepare(tb.Context(), target)
	if err != nil {
		tb.Fatal(err)
	}
	made, err := s.entry(target, recipe.key()).create(recipe, func(out string) error { return os.WriteFile(out, []byte(binary), 0o755) })
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

// pretendLock has a builder believe that it generated the lock of a target.
func pretendLock(tb testing.TB, b *Builder, target Target) {
	tb.Helper()
	l := lock{mod: []byte("module m\n"), sum: []byte("sums\n")}
	if err := l.write(b.Dir, generatedLock(target)); err != nil {
		tb.Fatal(err)
	}
}

// TestAnExportedCacheNeedsNoGo: what was exported is found where there is no Go command,
// and what was not says what is missing.
func TestAnExportedCacheNeedsNoGo(t *testing.T) {
	target := Target{Component: Etcd, Version: release.Etcd}
	b := &Builder{Dir: t.TempDir()}
	made := pretend(t, b, target, "etcd")
	dir := filepath.Join(t.TempDir(), "cache")
	for range 2 { // the second time, it is there
		if err := b.Export(t.Context(), []Target{target}, dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	exported := &Builder{Dir: dir}
	binary, err := exported.Binary(t.Context(), target)
	if err != nil || binary.Digest != made.Digest || !binary.Cached || !strings.HasPrefix(binary.Path, dir) {
		t.Errorf("it is %+v, made was %+v: %v", binary, made, err)
	}
	const want = "needs the Go command"
	if _, err := exported.Binary(t.Context(), Target{Component: Kubelet, Version: release.Newest}); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrNoRelease) {
		t.Errorf("another component: %v, want %q", err, want)
	}
	if _, err := (&Builder{Dir: b.Dir}).Binary(t.Context(), target); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a cache that was not exported: %v, want %q", err, want)
	}
	if err := os.WriteFile(binary.Path, []byte("xtcd"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Builder{Dir: dir}).Binary(t.Context(), target); err == nil || !strings.Contains(err.Error(), "was changed after it was built") {
		t.Errorf("an entry that was changed: %v", err)
	}
}

// TestGeneratedLocksAreExported: without them, only the network tells which entry is that
// of a release whose lock is not committed.
func TestGeneratedLocksAreExported(t *testing.T) {
	target := Target{Component: Scheduler, Version: "v1.90.1"}
	b := &Builder{Dir: t.TempDir()}
	pretendLock(t, b, target)
	made := pretend(t, b, target, "scheduler")
	dir := filepath.Join(t.TempDir(), "cache")
	if err := b.Export(t.Context(), []Target{target, target}, dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	binary, err := (&Builder{Dir: dir}).Binary(t.Context(), target)
	if err != nil || binary.Digest != made.Digest {
		t.Errorf("it is %+v, made was %+v: %v", binary, made, err)
	}
}

// TestTheAPIOfAnExportedCache: without Go, it is what the cache has of the release.
func TestTheAPIOfAnExportedCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := &Builder{Dir: dir}
	for name, text := range map[string]string{
		toolchainFile: "go1.99", apiFile("v1.90.1"): `{"types": {"k8s.io/api/core/v1.Pod": {"Package": "k8s.io/api/core/v1", "Name": "Pod"}}, "groups": {}}`,
	} {
		if err := writeBelow(dir, name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	api, err := b.API(t.Context(), "v1.90.1")
	if err != nil {
		t.Fatal(err)
	}
	if pod, known := api.Type("k8s.io/api/core/v1.Pod"); !known || pod.Name != "Pod" {
		t.Errorf("%v", pod)
	}
	if _, err := b.API(t.Context(), "v1.89.1"); err == nil || !strings.Contains(err.Error(), "was exported without an API server of v1.89.1") {
		t.Errorf("another release: %v", err)
	}
}

// TestWhatIsNotExported: the cache of another machine could not say what these are.
func TestWhatIsNotExported(t *testing.T) {
	t.Parallel()
	patch := Overlay{Path: "pkg/a.go", File: "a.go"}
	for want, c := range map[string]struct {
		builder *Builder
		targets []Target
	}{
		"a ready-made binary can't be exported":               {builder: &Builder{Given: []Given{{Component: Etcd}}}},
		"what the Go of a release compiled can't be exported": {builder: &Builder{Toolchain: ReleasedToolchain}},
		"a patched component can't be exported":               {builder: &Builder{Overlays: []Overlay{patch}}},
		"a patched component can't be exported: ":             {builder: new(Builder), targets: []Target{{Component: Kubelet, Version: release.Newest, Overlay: map[string]string{patch.Path: patch.File}}}},
	} {
		c.builder.Dir = t.TempDir()
		if err := c.builder.Export(t.Context(), c.targets, t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
