// Package docs holds the manual, so that an installed skewrig has it too.
package docs

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/scenarios"
)

//go:embed *.md commands/*.md ci examples/*.yaml examples/*/*.yaml examples/*/*.go podsapi
var files embed.FS

// Language is the name of the manual of the scenario language.
const Language = "language"

// Page is a page of the manual, or a file that pages show.
type Page struct {
	// Name is the path of the page from docs, without .md.
	Name string `json:"name"`
	// Title is empty for a file that pages show.
	Title string `json:"title,omitempty"`
}

// Pages returns all pages: first those of the manual, then the files that they show. The
// pages of commands, which --help prints too, are left out.
func Pages() ([]Page, error) {
	pages := []Page{{Language, "The scenario language, whole"}}
	var shown []Page
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Dir(name) == "commands" || name == "README.md" {
			return err
		}
		if path.Ext(name) != ".md" {
			shown = append(shown, Page{Name: name})
			return nil
		}
		text, err := fs.ReadFile(files, name)
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		pages = append(pages, Page{strings.TrimSuffix(name, ".md"), title})
		return err
	})
	slices.SortFunc(pages, func(a, b Page) int { return strings.Compare(a.Name, b.Name) })
	return append(pages, shown...), err
}

// Get returns the text of a page: run, commands/run, or examples/payments/pod.yaml.
func Get(name string) (string, error) {
	if name == Language {
		return scenarios.Manual(), nil
	}
	for _, of := range []string{name, name + ".md"} {
		if text, err := fs.ReadFile(files, strings.TrimPrefix(of, "docs/")); err == nil {
			return string(text), nil
		}
	}
	return "", fmt.Errorf("there is no page %q: skewrig docs lists them", name)
}
