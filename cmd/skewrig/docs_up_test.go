package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/scenarios/provider/images"
)

// The page on clusters lists every image and every command that there is.
func TestDocsListImagesAndCommands(t *testing.T) {
	t.Parallel()
	page := readText(t, filepath.Join(root, "docs", "clusters.md"))
	for _, image := range images.KnownImages() {
		if !strings.Contains(page, "`"+image+"`") {
			t.Errorf("the image %s is not on the page", image)
		}
	}
	_, commands, _ := strings.Cut(page, "\nCommands: ")
	commands, _, _ = strings.Cut(commands, ".\n")
	want := "`" + strings.Join(images.KnownCommands(), "`, `") + "`"
	if got := strings.Join(strings.Fields(commands), " "); got != want {
		t.Errorf("the page lists\n%s, want\n%s", got, want)
	}
}
