package spec_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/action"
)

// glob lists files below testdata by their names there.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s in testdata: %v", pattern, err)
	}
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	return paths
}

func TestLoadAcceptsValidFiles(t *testing.T) {
	t.Parallel()
	names := glob(t, "valid-*.yaml")
	files, err := action.Load(os.DirFS("testdata"), names)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(names) {
		t.Fatalf("%d files, want %d", len(files), len(names))
	}
	for i, f := range files {
		if f.Path != names[i] || len(f.Combinations) == 0 {
			t.Errorf("file %d is %s with %d combinations", i, f.Path, len(f.Combinations))
		}
	}
}

// TestLoadReportsEveryProblem compares what is wrong with each invalid file
// with the .txt beside it. Run it with -update to write those.
func TestLoadReportsEveryProblem(t *testing.T) {
	t.Parallel()
	for _, name := range glob(t, "invalid-*.yaml") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := action.Load(os.DirFS("testdata"), []string{name})
			if _, ok := errors.AsType[*strict.Errors](err); !ok {
				t.Fatalf("error %v, want problems", err)
			}
			got := err.Error() + "\n"
			golden.Check(t, filepath.Join("testdata", strings.TrimSuffix(name, ".yaml")+".txt"), got)
		})
	}
}
