package spec_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/skewrig/skewrig/harness/fuzzing"
	"github.com/skewrig/skewrig/harness/strict"
)

// FuzzDecode looks for texts that make Load panic, that cost too much, or that it neither decodes
// nor refuses with the place of each problem.
func FuzzDecode(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.yaml"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzing.Limited(t, func() { checkDecoded(t, string(text)) })
	})
}

// checkDecoded fails a test if a text is decoded to a file that has no cell, or is refused without
// a reason and its place.
func checkDecoded(t *testing.T, text string) {
	t.Helper()
	file, err := decode("fuzz.yaml", text)
	if err == nil {
		if len(file.Combinations) == 0 {
			t.Error("a file without a combination")
		}
		return
	}
	var all *strict.Errors
	if !errors.As(err, &all) || len(all.Problems) == 0 {
		t.Fatalf("error without problems: %v", err)
	}
	for _, p := range all.Problems {
		if p.File != "fuzz.yaml" || p.Line < 1 || p.Column < 1 || p.Message == "" {
			t.Errorf("problem %+v lacks its cause or its place", p)
		}
	}
}
