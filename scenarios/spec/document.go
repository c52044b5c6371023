package spec

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// Document is a file with one document that is no scenario: it is read as
// strictly, and its problems are told in the same way.
type Document struct {
	source *source
	root   *yaml.Node
}

// ReadDocument decodes a text into out, a pointer to a struct whose fields have
// json tags. What is wrong with it is for Err to return, together with what the
// caller notes.
func ReadDocument(file string, text []byte, out any) *Document {
	d := &Document{source: newSource(file, new(collector)), root: &yaml.Node{Line: 1, Column: 1}}
	documents := d.source.parse(text)
	switch {
	case len(documents) > 0:
		d.root = documents[0]
		reader := decoder{source: d.source}
		reader.decode(d.root, reflect.ValueOf(out).Elem())
	case len(d.source.problems.problems) == 0:
		d.source.report(d.root, "the file is empty")
	}
	if len(documents) > 1 {
		d.source.report(documents[1], "the file has one document: put this one into a file of its own")
	}
	return d
}

// Note adds a problem with the field at a path, which is written as in
// File.Position.
func (d *Document) Note(path, format string, args ...any) {
	n, _ := find(d.root, path)
	d.source.note(n, format, args...)
}

// Err returns all problems as Errors, or nil.
func (d *Document) Err() error { return asError(d.source.problems.sorted()) }
