package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
)

// The page on `up` lists every image and every command that there is.
func TestDocsListImagesAndCommands(t *testing.T) {
	t.Parallel()
	page := readText(t, filepath.Join(root, "docs", "up.md"))
	for _, entry := range agnhost.Entries() {
		if !strings.Contains(page, "`"+entry.Pattern+"`") {
			t.Errorf("the image %s is not on the page", entry.Pattern)
		}
	}
	_, commands, _ := strings.Cut(page, "\nCommands: ")
	commands, _, _ = strings.Cut(commands, ".\n")
	want := "`" + strings.Join(agnhost.Commands(), "`, `") + "`"
	if got := strings.Join(strings.Fields(commands), " "); got != want {
		t.Errorf("the page lists\n%s, want\n%s", got, want)
	}
}
