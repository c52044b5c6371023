package mutation

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/golden"
)

// sample is a program of one file, with its mutants.
func sample(t *testing.T) (string, []Mutant) {
	t.Helper()
	text, err := os.ReadFile("testdata/sample/ask.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	file := File{Path: "ask.go", Text: text, Types: map[string]string{"limit": "int64"}}
	mutated, mutants, err := Generate(file, "sample/mutant", 1)
	if err != nil {
		t.Fatal(err)
	}
	return string(mutated), mutants
}

func TestGenerate(t *testing.T) {
	mutated, mutants := sample(t)
	golden.Check(t, "testdata/sample/mutated.go.txt", mutated)
	var list strings.Builder
	for _, m := range mutants {
		fmt.Fprintf(&list, "%s %s\n", m.Func, m.Name())
	}
	golden.Check(t, "testdata/sample/mutants.txt", list.String())
}

// program compiles the sample with all of its mutants.
func program(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	mutated, _ := sample(t)
	helpers, err := WithRuntime([]byte("package mutant\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "mutant"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"go.mod": "module sample\n\ngo 1.26\n", "ask.go": mutated, "mutant/mutant.go": string(helpers)} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "sample", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "sample")
}

// TestEachMutantIsSelected runs the sample as itself, and as each of its mutants:
// no answer is missing.
func TestEachMutantIsSelected(t *testing.T) {
	_, mutants := sample(t)
	path := program(t)
	seen := filepath.Join(t.TempDir(), "seen")
	ask := func(selected string) string {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // for what never ends
		defer cancel()
		cmd := exec.CommandContext(ctx, path, "a", "", "b")
		cmd.Env = []string{"SKEWRIG_MUTANT=" + selected, "SKEWRIG_MUTANTS_SEEN=" + seen}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return err.Error()
		}
		return string(out)
	}
	page := filepath.Join(t.TempDir(), "page")
	if err := os.WriteFile(page, []byte("0       "), 0o600); err != nil {
		t.Fatal(err)
	}
	const unchanged = "done 5 <nil>\n"
	for _, selected := range []string{"", "0", page} {
		if got := ask(selected); got != unchanged {
			t.Errorf("as %q: %q", selected, got)
		}
	}
	visible, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	for _, m := range mutants {
		got := ask(fmt.Sprint(m.ID))
		if isSeen := strings.Contains("\n"+string(visible), fmt.Sprintf("\n%d\n", m.ID)); got != unchanged && !isSeen {
			t.Errorf("%s was not seen, and makes a difference: %q", m.Name(), got)
		}
		fmt.Fprintf(&list, "%s: %q\n", m.Name(), got)
	}
	golden.Check(t, "testdata/sample/answers.txt", list.String())
}
