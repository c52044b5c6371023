package spec_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/scenarios/spec"
)

var update = flag.Bool("update", false, "write the expected outputs below testdata")

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
	files, err := spec.Load(os.DirFS("testdata"), names)
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
			_, err := spec.Load(os.DirFS("testdata"), []string{name})
			if _, ok := errors.AsType[*spec.Errors](err); !ok {
				t.Fatalf("error %v, want problems", err)
			}
			golden := filepath.Join("testdata", strings.TrimSuffix(name, ".yaml")+".txt")
			got := err.Error() + "\n"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
