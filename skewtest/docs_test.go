package skewtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)\n```go[^\n]*\n(.*?)```\n")

// TestCodeOfTheGuide: the code of the guide stands in an example that runs, but for how
// far it is indented.
func TestCodeOfTheGuide(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/from-go.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../docs/examples/*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var examples strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		examples.WriteString(unindented(string(text)))
	}
	blocks := goBlock.FindAllStringSubmatch(string(page), -1)
	for _, block := range blocks {
		if !strings.Contains(examples.String(), unindented(block[1])) {
			t.Errorf("no example has this code:\n%s", block[1])
		}
	}
	if len(blocks) < 5 {
		t.Errorf("the guide has %d blocks of code", len(blocks))
	}
}

func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}
