package app

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWhichChangesCount: after files that don't count, one is written that does. Its name must
// be the next that is sent.
func TestWhichChangesCount(t *testing.T) {
	t.Parallel()
	dir, sources := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scenario, source := filepath.Join(dir, "mine.yaml"), filepath.Join(sources, "grpc.go")
	write(scenario, "a")
	write(source, "a")
	changes, err := Watch(t.Context(), []string{scenario}, []string{source}, nil)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want string) {
		t.Helper()
		if got := <-changes; got != want {
			t.Errorf("%s changed, want %s", got, want)
		}
	}
	write(scenario, "b")
	expect("mine.yaml")
	write(filepath.Join(dir, ".mine.yaml.swp"), "b")
	write(filepath.Join(dir, "notes.txt"), "b")
	write(filepath.Join(sources, "http.go"), "b")
	write(source, "b")
	expect("grpc.go")
	write(scenario+"~", "b")
	write(filepath.Join(dir, "new"), "c")
	if err := os.Rename(filepath.Join(dir, "new"), scenario); err != nil { // as editors do
		t.Fatal(err)
	}
	expect("mine.yaml")
	write(filepath.Join(dir, "pod.yml"), "b")
	expect("pod.yml")
}
