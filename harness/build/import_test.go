package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/release"
)

func importTo(tb testing.TB, dir string, archive []byte) ([]Binary, error) {
	tb.Helper()
	return (&Builder{Dir: dir}).Import(tb.Context(), bytes.NewReader(archive), "v0.90.2")
}

// states are the targets of binaries, each with what an import did.
func states(binaries []Binary) (states []string) {
	for _, b := range binaries {
		state := "imported"
		if b.Cached {
			state = "there"
		}
		states = append(states, string(b.Component)+" "+state)
	}
	return states
}

// found are an error if a cache does not have all that is in the archives.
func found(t *testing.T, dir string) error {
	t.Helper()
	missing, err := (&Builder{Dir: dir}).Missing(t.Context(), archived)
	if err != nil || len(missing) > 0 {
		return fmt.Errorf("%s would be built: %w", missing, err)
	}
	var problems []error
	for _, target := range archived {
		binary, err := (&Builder{Dir: dir}).Binary(t.Context(), target)
		problems = append(problems, err)
		if err != nil {
			continue
		}
		if text, err := os.ReadFile(binary.Path); err != nil || string(text) != "the binary of "+target.String() || !binary.Cached {
			problems = append(problems, fmt.Errorf("%+v is %q: %w", binary, text, err))
		}
		if info, err := os.Stat(binary.Path); err != nil || info.Mode().Perm()&0o700 != 0o700 {
			problems = append(problems, fmt.Errorf("%s: %v, %w", binary.Path, info.Mode(), err))
		}
	}
	return errors.Join(problems...)
}

// leftovers are an error if an import that was refused left something, or one that was not
// left something unfinished.
func leftovers(dir string) error {
	var problems []error
	for _, pattern := range []string{"work/*", "bin/*/*/" + incomplete + "*", "generated-locks/.*"} {
		left, err := filepath.Glob(filepath.Join(dir, pattern))
		problems = append(problems, err)
		if len(left) > 0 {
			problems = append(problems, fmt.Errorf("left: %s", left))
		}
	}
	return errors.Join(problems...)
}

// untouched is an error if there is something that an import puts into a cache.
func untouched(dir string) error {
	problems := []error{leftovers(dir)}
	for _, name := range []string{"bin", "generated-locks", toolchainFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// TestAnImportIsUsed: what was imported is found and not built, with and without a Go
// command. A second import keeps it.
func TestAnImportIsUsed(t *testing.T) {
	archive, dir := exportedArchive(t), t.TempDir()
	t.Setenv("GOPROXY", "off") // a release without a lock is found all the same
	var reported []string
	b := &Builder{Dir: dir, Progress: func(p Progress) { reported = append(reported, fmt.Sprint(p.Target, " ", p.State)) }}
	first, err := b.Import(t.Context(), bytes.NewReader(archive), "v0.90.2")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"etcd imported", "kubelet imported", "kube-scheduler imported"}, states(first)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if want := "etcd@" + string(release.Etcd) + " imported"; !slices.Contains(reported, want) {
		t.Errorf("it reported %q, and not %q", reported, want)
	}
	if err := found(t, dir); err != nil {
		t.Error(err)
	}
	second, err := importTo(t, dir, archive)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"etcd there", "kubelet there", "kube-scheduler there"}, states(second)); diff != "" {
		t.Errorf("the second time, -want +got:\n%s", diff)
	}
	t.Setenv("PATH", t.TempDir())
	if err := found(t, dir); err != nil {
		t.Errorf("without a Go command: %v", err)
	}
	other := t.TempDir()
	if _, err := importTo(t, other, archive); err != nil {
		t.Errorf("without a Go command: %v", err)
	}
	if err := errors.Join(found(t, other), leftovers(other)); err != nil {
		t.Errorf("without a Go command: %v", err)
	}
}

// TestImportsAtTheSameTime: one of them imports an entry, the others find it there.
func TestImportsAtTheSameTime(t *testing.T) {
	t.Parallel()
	archive, dir := exportedArchive(t), t.TempDir()
	const imports = 4
	var results [imports][]Binary
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() {
			var err error
			if results[i], err = importTo(t, dir, archive); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	counts := make(map[string]int)
	for _, result := range results {
		for _, state := range states(result) {
			counts[state]++
		}
	}
	want := make(map[string]int)
	for _, target := range archived {
		want[string(target.Component)+" imported"], want[string(target.Component)+" there"] = 1, imports-1
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := errors.Join(found(t, dir), leftovers(dir)); err != nil {
		t.Error(err)
	}
}

// TestAnImportWaitsForABuild: and keeps what that has built.
func TestAnImportWaitsForABuild(t *testing.T) {
	t.Parallel()
	archive, b := exportedArchive(t), &Builder{Dir: t.TempDir()}
	s, recipe, err := b.prepare(t.Context(), archived[0])
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := s.entry(archived[0], recipe.key()).lock(t.Context(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	waited := false
	b.Progress = func(p Progress) {
		if p.State == Waiting && p.Target.Component == Etcd {
			waited = true
			pretend(t, b, archived[0], "built meanwhile")
			unlock()
		}
	}
	binaries, err := b.Import(t.Context(), bytes.NewReader(archive), "v0.90.2")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"etcd there", "kubelet imported", "kube-scheduler imported"}, states(binaries)); diff != "" || !waited {
		t.Errorf("it waited: %t, -want +got:\n%s", waited, diff)
	}
}

// TestAnImportChecksWhatIsThere: a damaged entry is not hidden by an import.
func TestAnImportChecksWhatIsThere(t *testing.T) {
	t.Parallel()
	archive, dir := exportedArchive(t), t.TempDir()
	binaries, err := importTo(t, dir, archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binaries[1].Path, []byte("another kubelet"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = importTo(t, dir, archive)
	if _, is := errors.AsType[*ArchiveError](err); is || err == nil || !strings.Contains(err.Error(), "was changed after it was built") {
		t.Errorf("%v", err)
	}
}

// TestAnImportThatIsInterruptedLeavesNothing: what it unpacked is removed.
func TestAnImportThatIsInterruptedLeavesNothing(t *testing.T) {
	t.Parallel()
	archive, dir := exportedArchive(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	b := &Builder{Dir: dir, Progress: func(Progress) { cancel() }} // in the midst of the first binary
	if _, err := b.Import(ctx, bytes.NewReader(archive), "v0.90.2"); !errors.Is(err, context.Canceled) {
		t.Errorf("an import: %v", err)
	}
	if err := untouched(dir); err != nil {
		t.Error(err)
	}
}

// TestWhatThisMachineCannotDo is no fault of the archive.
func TestWhatThisMachineCannotDo(t *testing.T) {
	t.Parallel()
	archive, dir := exportedArchive(t), filepath.Join(t.TempDir(), "cache")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := importTo(t, dir, archive)
	if _, is := errors.AsType[*ArchiveError](err); err == nil || is {
		t.Errorf("%v", err)
	}
}
