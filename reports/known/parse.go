package known

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
)

// Load reads a list from a file. See Parse for the errors.
func Load(path string) (List, error) {
	file, err := os.Open(path)
	if err != nil {
		return List{}, fmt.Errorf("loading known deviations: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, strict.MaxText+1))
	if err != nil {
		return List{}, fmt.Errorf("loading known deviations: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a list from the content of a file. It is strict: an unknown field,
// a duplicate key, a wrong type, a missing reason or link and a malformed
// pattern are errors. All of them are returned at once, as *strict.Errors.
func Parse(file string, data []byte) (List, error) {
	var list struct {
		APIVersion string      `json:"apiVersion"`
		Kind       string      `json:"kind"`
		Deviations []Deviation `json:"deviations"`
	}
	document := strict.ReadDocument(file, data, &list)
	document.Constant("apiVersion", list.APIVersion, reports.APIVersion)
	document.Constant("kind", list.Kind, Kind)
	for i := range list.Deviations {
		list.Deviations[i].check(document, fmt.Sprintf("deviations[%d]", i))
	}
	if err := document.Err(); err != nil {
		return List{}, err
	}
	return List{list.Deviations}, nil
}

// check notes what is wrong with an entry, which stands at a path.
func (d *Deviation) check(document *strict.Document, at string) {
	d.At = document.Position(at)
	for name, text := range map[string]*string{"requirement": &d.Requirement, "reason": &d.Reason, "link": &d.Link} {
		*text = strings.TrimSpace(*text)
		if *text == "" && document.Clean(at+"."+name) {
			document.Note(at+"."+name, "it is empty")
		}
	}
	if len(d.Checks) == 0 && document.Clean(at+".checks") {
		document.Note(at+".checks", "it is empty: it would match nothing")
	}
	if document.Clean(at) && !document.Has(at+".checks") && !document.Has(at+".requirement") {
		document.Note(at, "checks or requirement is missing: an entry must say what fails")
	}
	if _, is := reports.WebAddress(d.Link); !is && d.Link != "" {
		document.Note(at+".link", "%q is not the address of a web page", d.Link)
	}
}
