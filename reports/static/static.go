// Package static writes HTML pages without script. A page is one file that loads nothing, and a policy in it forbids
// browsers to run or load anything but its style. html/template escapes the texts of components, and the function visible
// of the templates what does not show as itself.
package static

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
)

//go:embed style.css
var style string

// Head is for the head of a page.
type Head struct {
	// Policy lets browsers apply the style, by its digest, and nothing else.
	Policy string
	Style  template.CSS
}

// NewHead returns the head of every page.
func NewHead() Head {
	sum := sha256.Sum256([]byte(style))
	return Head{
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
		Style:  template.CSS(style), //nolint:gosec // it is compiled in
	}
}

// head is what the heads of pages have before their titles.
const head = `{{define "head"}}<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">{{end}}`

// Parse parses the template of a page, which has the template head, and panics if it is wrong: templates are compiled in.
func Parse(text string) *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"visible": render.Visible, "title": render.Title, "counted": reports.Counted, "join": strings.Join,
	}).Parse(head + text))
}

// Write writes a page when all of it is known.
func Write(w io.Writer, page *template.Template, view any) error {
	var out bytes.Buffer
	if err := page.Execute(&out, view); err != nil {
		return fmt.Errorf("writing a page: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("writing a page: %w", err)
	}
	return nil
}
