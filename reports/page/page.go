// Package page writes the report of a run as one HTML file that needs nothing
// else: no network, no server, no other file. What a reader sees first is plain
// HTML, also without JavaScript. What happened in each cell is packed into the
// same file and unpacked when it is asked for, so that a page of thousands of
// cells opens as fast as one of ten.
//
// The scripts and styles are the files in assets, which are joined as they are.
// Texts of a report come from programs under test: Go's html/template escapes
// them here, the scripts write them as text and never as markup, and a policy in
// the page forbids browsers to run or load anything that is not part of it.
package page

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/narrate"
)

// Name is the name of the file beside the report.
const Name = "index.html"

// MaxBytes is how long a page gets if a Run does not say otherwise, unless the
// report alone is longer. In bytes.
const MaxBytes = 5_000_000

// Run is a run to be shown.
type Run struct {
	Report reports.Report
	// Narration narrates a run of a cell of the report within so many bytes of JSON, or
	// returns nil if nothing was recorded. Of a cell that ran several times it is called
	// for one of those with the worst outcome. It is called for the cells that need
	// attention first, again with a lower limit where the page has no room for it, and
	// no more once the page is full. It must be safe for several calls at a time. If
	// unset, the page has no narrations.
	Narration func(cell reports.Cell, run reports.Run, limit int) (*narrate.Narration, error)
	// Facts are what the records of cells say of what took part, by the ids of the cells.
	// If unset, drafts of issues name only the releases that are in the ids.
	Facts map[string]evidence.Facts
	// Sentences are those of the reader's copies of the texts, by the ids of the
	// requirements: drafts of issues quote them. If unset, they quote nothing.
	Sentences map[string][]string
	// List says which list of known deviations one of a cell belongs to. If unset, the page
	// does not say it.
	List func(cell reports.Cell) string
	// Dir is the report's directory. If unset, the page does not say which files are in
	// it.
	Dir fs.FS
	// MaxBytes is how long the page may get. If unset, it is MaxBytes.
	MaxBytes int
}

// Write writes the page. An error of a narration does not keep the page from
// being written: it stands in the page, in the cell's place.
func Write(w io.Writer, run Run) error {
	limit := run.MaxBytes
	if limit == 0 {
		limit = MaxBytes
	}
	var out bytes.Buffer
	t := newPageInput(run)
	if err := templates.ExecuteTemplate(&out, "page.html", newScreen(t.scene())); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	if err := t.pack(&out, limit-len(pageEnd)); err != nil {
		return fmt.Errorf("packing the data of the page: %w", err)
	}
	out.WriteString(pageEnd)
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// pageEnd ends what the template began: between them is the data.
const pageEnd = "</body>\n</html>\n"
