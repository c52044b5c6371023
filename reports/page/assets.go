package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"regexp"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

//go:embed assets
var assets embed.FS

// modules are the scripts in an order in which each comes after what it imports.
var modules = []string{
	"dom", "data", "route", "glossary", "issue", "diff", "timeline", "attempts", "objects", "cell", "lists", "keys", "main",
}

var (
	style       = outcomeStyles() + read("style.css")
	earlyScript = read("theme.js")
	script      = join(modules)
	// policy has browsers run and apply what is in assets, by its digest, and
	// nothing else, load nothing, and send nothing anywhere.
	policy = "default-src 'none'; script-src " + digest(earlyScript) + " " + digest(script) +
		"; style-src " + digest(style) + "; img-src data:; base-uri 'none'; form-action 'none'"
)

// templates are the HTML of the page.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"visible": render.Visible, "whole": render.VisibleWhole, "linked": linked, "escape": escape, "gib": gib, "counted": reports.Counted, "heading": headingOf, "breaking": breaking,
}).ParseFS(assets, "assets/*.html"))

func read(name string) string {
	content, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) //nolint:forbidigo // it is compiled in
	}
	return string(content)
}

var (
	importing = regexp.MustCompile(`(?m)^import .*\n`)
	exporting = regexp.MustCompile(`(?m)^export `)
)

// join makes one module of several. A page that is opened from a file can't
// import from other files, so the names that they import from each other become
// names of the same module; no two may declare the same one.
func join(names []string) string {
	var b strings.Builder
	for _, name := range names {
		source := read(name + ".js")
		b.WriteString(exporting.ReplaceAllString(importing.ReplaceAllString(source, ""), ""))
	}
	return b.String()
}

func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
