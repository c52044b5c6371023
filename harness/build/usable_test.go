package build

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestAnArchiveOfAnotherToolchain: it would not be used, so it is refused, and the error
// says what made it, what is here, and what to do.
func TestAnArchiveOfAnotherToolchain(t *testing.T) {
	files := unpacked(t, exportedArchive(t))
	made := strings.TrimSpace(files[1].text)
	with := func(from, to string) []byte {
		changed := slices.Clone(files)
		changed[1].write(strings.Replace(made, from, to, 1))
		return packed(t, changed, "")
	}
	other := with(runtime.GOARCH, "s390x")
	newer := with(strings.Fields(made)[0], "go1.99")
	for _, want := range []string{runtime.GOOS + " s390x", "this machine is " + runtime.GOOS + " " + runtime.GOARCH, "export on a machine like this one"} {
		if err := refused(t, other, want); err != nil {
			t.Error(err)
		}
	}
	for _, want := range []string{"go1.99 " + runtime.GOOS, "where Go is " + made, "set GOTOOLCHAIN"} {
		if err := refused(t, newer, want); err != nil {
			t.Error(err)
		}
	}
	// Without a Go command the toolchain is that of what was imported first.
	t.Setenv("PATH", t.TempDir())
	if err := refused(t, other, "this machine is "); err != nil {
		t.Error(err)
	}
	clock := slices.Clone(files)
	edit(t, clock, func(m *manifest) { m.Target.Clock = true })
	if err := refused(t, packed(t, clock, ""), "(own clock) is found only where there is a Go command"); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	if _, err := importTo(t, dir, packed(t, files, "")); err != nil {
		t.Fatal(err)
	}
	if _, err := importTo(t, dir, newer); err == nil || !strings.Contains(err.Error(), "finds only what "+made+" made") {
		t.Errorf("into the same cache: %v", err)
	}
	if err := found(t, dir); err != nil {
		t.Error(err)
	}
}

// TestAnOtherLockIsNotReplaced: entries of the cache were built with it.
func TestAnOtherLockIsNotReplaced(t *testing.T) {
	t.Parallel()
	archive, dir := exportedArchive(t), t.TempDir()
	l := lock{mod: []byte("module mine\n"), sum: []byte("sums\n")}
	if err := l.write(dir, generatedLock(archived[2])); err != nil {
		t.Fatal(err)
	}
	if _, err := importTo(t, dir, archive); err == nil || !strings.Contains(err.Error(), "has another lock of kube-scheduler@v1.90.1") {
		t.Errorf("%v", err)
	}
	if kept, err := (store{dir: dir}).knownLock(archived[2]); err != nil || string(kept.mod) != string(l.mod) {
		t.Errorf("it is %q: %v", kept.mod, err)
	}
}
