package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/trial"
)

// TestWriteSweepPages: the page and a draft name the scenarios that are there, and what is known has no draft.
func TestWriteSweepPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, sweptShown), 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSweep("../sweep/show/testdata/swept")
	if err != nil {
		t.Fatal(err)
	}
	alone := func(found trial.Found) trial.Setting {
		gate := found.Takes()[0]
		return trial.Setting{Version: s.Version, Transition: s.Transitions[0], On: release.Gates{gate: true}, To: release.Gates{gate: false}}
	}
	scenario := "scenarios/probemode-deployment-template-without-end.yaml"
	golden.Write(t, filepath.Join(dir, scenario), "")
	if err := writeSweepPages(dir, s, alone); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"index.html", "drafts/finding-2.md"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(text), scenario); !got || strings.Contains(string(text), "statefulset-template") {
			t.Errorf("%s does not name the one scenario that is there", file)
		}
	}
	var got []string
	for _, pattern := range []string{"*.*", "drafts/*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			name, _ := filepath.Rel(dir, f)
			got = append(got, name)
		}
	}
	if want := []string{"index.html", "junit.xml", "drafts/finding-1.md", "drafts/finding-2.md", "drafts/not-confirmed-1.md", "drafts/not-confirmed-2.md"}; !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}
