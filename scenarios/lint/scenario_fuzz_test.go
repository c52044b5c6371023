package lint_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
	"unicode/utf8"

	"github.com/skewrig/skewrig/harness/fuzzing"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/lint"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// maxSeed is the largest file that the fuzzer starts from, in bytes: small ones are changed
// in more places.
const maxSeed = 3 << 10

// FuzzScenario plans what a user could write: a scenario with a manifest beside it.
func FuzzScenario(f *testing.F) {
	manifest := []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers: [{name: app, image: registry.k8s.io/e2e-test-images/agnhost:2.53}]\n")
	for _, pattern := range []string{"../catalog/*/*.yaml", "../spec/testdata/*.yaml", "testdata/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatalf("%s has no files: %v", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			if len(text) <= maxSeed {
				f.Add(text, manifest)
			}
		}
	}
	warm, err := os.ReadFile("../catalog/regressions/kubernetes-138255-binding.yaml")
	if err != nil {
		f.Fatal(err)
	}
	_, _ = planned(warm, manifest) // what is made once in a process is no input's cost
	f.Fuzz(func(t *testing.T, scenario, manifest []byte) {
		fuzzing.Limited(t, func() {
			cells, err := planned(scenario, manifest)
			if err != nil {
				return
			}
			if _, err := strictly(scenario, manifest); err != nil {
				t.Errorf("the second time: %v", err)
			}
			for _, cell := range cells {
				checkPlan(t, cell)
			}
		})
	})
}

// TestPartsOfInvalidFiles: rules look at what could be decoded of a file, whatever is missing.
func TestPartsOfInvalidFiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../spec/testdata/invalid-*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if cells, err := planned(text, nil); err == nil {
			t.Errorf("%s gives %d cells", path, len(cells))
		}
	}
}

// strictly decodes a scenario.
func strictly(scenario, manifest []byte) ([]plan.Cell, error) {
	files, err := action.Load(fstest.MapFS{"fuzz.yaml": {Data: scenario}, "pod.yaml": {Data: manifest}}, []string{"fuzz.yaml"})
	for _, f := range files {
		if err != nil {
			_ = problemsOf(plan.Parts(f))
		}
	}
	if err != nil {
		return nil, err
	}
	return plan.Cells(files)
}

// problemsOf finds what is wrong with cells.
func problemsOf(cells []plan.Cell) error {
	var all []error
	for i, cell := range cells {
		_, err := check.Compile(cell)
		needs, unknown := lint.Needs(cell)
		cells[i].Topology = needs
		all = append(all, err, unknown)
	}
	return errors.Join(append(all, lint.MissingFields(cells), lint.Undeclared(cells), lint.Refuse(cells))...)
}

// planned plans a scenario, and finds all that is wrong with it.
func planned(scenario, manifest []byte) ([]plan.Cell, error) {
	cells, err := strictly(scenario, manifest)
	if err != nil {
		return nil, err
	}
	return cells, problemsOf(cells)
}

// checkPlan fails a test if a plan can't be printed for a terminal, or is another one once it is stored.
func checkPlan(t *testing.T, cell plan.Cell) {
	t.Helper()
	checkPrintable(t, plan.Print(cell))
	stored, err := plan.Stored(cell)
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if err := stored.Write(&first); err != nil {
		t.Fatal(err)
	}
	read, err := record.ReadPlan(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Write(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("stored: %s\nread and stored again: %s, %v", &first, &second, err)
	}
}

// checkPrintable fails a test if a text could control a terminal.
func checkPrintable(t *testing.T, text string) {
	t.Helper()
	at := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && !slices.Contains([]rune{'\n', '\t'}, r) })
	if at >= 0 || !utf8.ValidString(text) {
		t.Errorf("it has %q", text[max(0, at):min(len(text), max(0, at)+8)])
	}
}
