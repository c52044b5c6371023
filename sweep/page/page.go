// Package page writes what a sweep came to as one HTML file. It loads nothing, has no script, and a policy in it forbids
// browsers to run or load anything. Texts of components are escaped by html/template, and what does not show as itself
// by render.Visible.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Name is the name of the file beside sweep.json.
const Name = "index.html"

// Links are addresses of files beside the page.
type Links struct {
	// Draft is that of the draft of an issue about a finding. If unset, or empty, there is none.
	Draft func(trial.Listed) string
	// Scenarios are those of the scenarios that show an item of a finding. If unset, or empty, there are none.
	Scenarios func(trial.Listed, trial.Found) []string
}

// Write writes the page.
func Write(w io.Writer, s trial.Swept, links Links) error {
	var out bytes.Buffer
	if err := page.Execute(&out, newView(s, links)); err != nil {
		return fmt.Errorf("writing the page of a sweep: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("writing the page of a sweep: %w", err)
	}
	return nil
}

//go:embed style.css
var style string

//go:embed page.html
var text string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"visible": render.Visible, "title": render.Title, "counted": reports.Counted, "join": strings.Join,
}).Parse(text))

// policy has browsers apply the style, by its digest, and nothing else.
func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}
