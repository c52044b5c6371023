package app

import (
	"path/filepath"
	"testing"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/story"
)

// TestStoriesAreScenarios that can run, and that reach nothing outside of their rig.
func TestStoriesAreScenarios(t *testing.T) {
	t.Parallel()
	here, err := Here()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var scenarios []string
	for _, b := range story.Batches(story.Stories(nil)) {
		text, err := b.Scenario(release.Newest)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, filepath.Base(scenarioFile(b.ID)))
		if err := files.WriteBytes(file, 0o600, text); err != nil {
			t.Fatal(err)
		}
		scenarios = append(scenarios, file)
	}
	cells, err := here.Select(scenarios)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckOutside(cells, false, false); err != nil {
		t.Error(err)
	}
}
