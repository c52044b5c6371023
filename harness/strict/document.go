package strict

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// Document is a file with one document. Its fields are named by paths, which are
// written steps[0].checks[1].observe, and gates["X"] for the entry of a map. A field
// that isn't in the file stands where what should contain it stands.
type Document struct {
	Source *Source
	Root   *yaml.Node
}

// ReadDocument decodes a text into out, a pointer to a struct whose fields have
// json tags. What is wrong with it is for Err to return, together with what the
// caller notes.
func ReadDocument(file string, text []byte, out any) *Document {
	d := ParseDocument(file, text)
	if d.Root.Kind != 0 {
		reader := Decoder{Source: d.Source}
		reader.Decode(d.Root, reflect.ValueOf(out).Elem())
	}
	return d
}

// ParseDocument reads a text without decoding it. The root of one that holds
// nothing has no kind.
func ParseDocument(file string, text []byte) *Document {
	d := &Document{Source: NewSource(file, new(Problems)), Root: &yaml.Node{Line: 1, Column: 1}}
	documents := d.Source.Parse(text)
	switch {
	case len(documents) > 1 || len(documents) == 1 && !IsNull(documents[0]):
		d.Root = documents[0]
	case len(documents) > 0 || !d.Source.Problems.Any():
		d.Source.Fail(d.Root, "the file is empty")
	}
	if len(documents) > 1 {
		d.Source.Fail(documents[1], "a file holds one document: move this one to its own file")
	}
	return d
}

// Find returns the node at a path, and false if there is none.
func (d *Document) Find(path string) (*yaml.Node, bool) { return Find(d.Root, path) }

// Position returns where a field stands: that of its value.
func (d *Document) Position(path string) Position {
	n, _ := d.Find(path)
	return Position{d.Source.File, n.Line, n.Column}
}

// Has reports whether the field at a path is there.
func (d *Document) Has(path string) bool {
	_, found := d.Find(path)
	return found
}

// Clean reports whether the field at a path is there and could be decoded.
func (d *Document) Clean(path string) bool {
	n, found := d.Find(path)
	return found && !d.Source.Bad[n]
}

// Note adds a problem with the field at a path.
func (d *Document) Note(path, format string, args ...any) {
	n, _ := d.Find(path)
	d.Source.Note(n, format, args...)
}

// Refuse notes a value that is wrong, unless the field is missing or could not be
// decoded.
func (d *Document) Refuse(path string, wrong bool, format string, args ...any) {
	if wrong && d.Clean(path) {
		d.Note(path, format, args...)
	}
}

// Constant notes a field that doesn't have the one value that it may have.
func (d *Document) Constant(field, value, want string) {
	d.Refuse(field, value != want, "%s must be %s, not %s", field, want, Quote(value))
}

// Err returns all problems as Errors, or nil.
func (d *Document) Err() error { return AsError(d.Source.Problems.Sorted()) }
