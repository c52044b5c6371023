package build

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/release"
)

// TestAnExportedCacheNeedsNoGo: what was exported is found where there is no Go command,
// and what was not says what is missing.
func TestAnExportedCacheNeedsNoGo(t *testing.T) {
	target := Target{Component: Etcd, Version: release.Etcd}
	b := &Builder{Dir: t.TempDir()}
	s, recipe, err := b.prepare(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.entry(target, recipe.key()).create(recipe, func(out string) error { return os.WriteFile(out, []byte("etcd"), 0o755) })
	if err != nil {
		t.Fatal(err)
	}
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

func TestAReadyMadeBinaryIsNotExported(t *testing.T) {
	t.Parallel()
	b := &Builder{Dir: t.TempDir(), Given: []Given{{Component: Etcd}}}
	if err := b.Export(t.Context(), nil, t.TempDir()); err == nil || !strings.Contains(err.Error(), "ready-made") {
		t.Errorf("%v", err)
	}
}
