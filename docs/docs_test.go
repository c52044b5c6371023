package docs

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEveryPageIsInside: each file of the manual can be read, and each page is listed.
func TestEveryPageIsInside(t *testing.T) {
	t.Parallel()
	pages, err := Pages()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if text, err := Get(p.Name); err != nil || text == "" || (p.Title == "") != (path.Ext(p.Name) == ".yaml" || path.Ext(p.Name) == ".go") {
			t.Errorf("page %q, %q: %v", p.Name, p.Title, err)
		}
	}
	entries, err := fs.Glob(os.DirFS("."), "*.md")
	if err != nil || len(entries) < 10 {
		t.Fatalf("%d pages: %v", len(entries), err)
	}
	for _, name := range entries {
		name = strings.TrimSuffix(name, ".md")
		if listed := slices.ContainsFunc(pages, func(p Page) bool { return p.Name == name }); !listed && name != "README" {
			t.Errorf("%s is not listed", name)
		}
	}
}

// TestWhatPagesNameIsInside: each YAML and Go file below docs that a page names.
func TestWhatPagesNameIsInside(t *testing.T) {
	t.Parallel()
	pages, err := Pages()
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?:\bdocs/|\]\()([\w/-]+\.(?:yaml|go))\b`)
	count := 0
	for _, p := range pages {
		text, err := Get(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			count++
			if _, err := Get(found[1]); err != nil {
				t.Errorf("%s names %s: %v", p.Name, found[1], err)
			}
		}
	}
	if count < 20 {
		t.Errorf("pages name %d files", count)
	}
}

// TestContributingNamesWhatIsThere: each path in backquotes is one of the repository.
func TestContributingNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, found := range regexp.MustCompile("`(\\w[\\w.-]*/[\\w./-]+)`").FindAllStringSubmatch(string(text), -1) {
		count++
		if _, err := os.Stat("../" + found[1]); err != nil {
			t.Error(err)
		}
	}
	if count < 50 {
		t.Errorf("it names %d paths", count)
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"start": "# Start\n", "start.md": "# Start\n", "docs/start.md": "# Start\n", "commands/run": "skewrig run", "README": "# Documentation",
		"examples/payments/pod.yaml": "name: payments", "ci/prow.yaml": "presubmits:", Language: "# Axes and cells\n\nEach combination",
	} {
		if text, err := Get(name); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v, %.40q, want %q", name, err, text, want)
		}
	}
	for _, name := range []string{"", "starting", "../README", "examples"} {
		if text, err := Get(name); err == nil || !strings.Contains(err.Error(), "skewrig docs lists them") {
			t.Errorf("%q: %v, %.40q", name, err, text)
		}
	}
}
