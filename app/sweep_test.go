package app

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestScenariosOfFindingsAreScenarios: what a sweep writes for its findings can be run.
func TestScenariosOfFindingsAreScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../sweep/trial/testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	here, err := HereOn(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		cells, err := here.Select([]string{file})
		if err != nil || len(cells) != 1 || !strings.HasPrefix(cells[0].ID, "sweep/grpccontainerprobetls/deployment-") {
			t.Errorf("%s: %d cells, %v", file, len(cells), err)
		}
	}
}
