package world

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheDocumentShowsThis: docs/watchdog.md has the tables that the tests of this
// package make.
func TestTheDocumentShowsThis(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "watchdog.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"race.txt", "clocks.txt", "drift.txt"} {
		table, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(document), "```\n"+string(table)+"```\n") {
			t.Errorf("docs/watchdog.md does not show testdata/%s", name)
		}
	}
}
