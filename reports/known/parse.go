package known

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
)

// maxList bounds what Load takes into memory, in bytes.
const maxList = 4 << 20

// Load reads a list from a file. See Parse for the errors.
func Load(path string) (List, error) {
	file, err := os.Open(path)
	if err != nil {
		return List{}, fmt.Errorf("loading known deviations: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxList+1))
	if err != nil {
		return List{}, fmt.Errorf("loading known deviations: %w", err)
	}
	if len(data) > maxList {
		return List{}, fmt.Errorf("loading known deviations: %s is larger than %d bytes", path, maxList)
	}
	return Parse(path, data)
}

// Parse reads a list from the content of a file. It is strict: an unknown field,
// a duplicate key, a wrong type, a missing reason or link and a malformed
// pattern are errors. All of them are returned at once, joined, in the order of
// the file, each one a Problem with its position.
func Parse(file string, data []byte) (List, error) {
	p := &parser{file: file}
	var list List
	if document := p.document(data); document != nil {
		list = p.list(document)
	}
	if len(p.problems) > 0 {
		return List{}, p.err()
	}
	return list, nil
}

// parser walks YAML nodes rather than decode them into structs, because only
// nodes know their position and keep duplicate keys.
type parser struct {
	file     string
	problems []Problem
}

// err returns the problems in the order of the file.
func (p *parser) err() error {
	slices.SortStableFunc(p.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	var all []error
	for _, problem := range p.problems {
		all = append(all, problem)
	}
	return errors.Join(all...)
}

func (p *parser) at(n *yaml.Node) Position { return Position{p.file, n.Line, n.Column} }

func (p *parser) problem(n *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, Problem{p.at(n), fmt.Sprintf(format, args...)})
}

// document returns the one document of the file, and nil if there is none to
// walk.
func (p *parser) document(data []byte) *yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, next yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		p.problems = append(p.problems, Problem{Position{File: p.file}, "it is empty"})
		return nil
	}
	if err != nil {
		p.problems = append(p.problems, p.syntaxError(err))
		return nil
	}
	if err := decoder.Decode(&next); err == nil {
		p.problem(&next, "a second document: a file holds one list")
	} else if !errors.Is(err, io.EOF) {
		p.problems = append(p.problems, p.syntaxError(err))
	}
	return document.Content[0]
}

// syntaxError moves the line that the YAML parser names, as "yaml: line 3: …",
// into the position.
func (p *parser) syntaxError(err error) Problem {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	at := Position{File: p.file}
	if _, err := fmt.Sscanf(text, "line %d:", &at.Line); err == nil {
		_, text, _ = strings.Cut(text, ": ")
	}
	return Problem{at, text}
}

func (p *parser) list(document *yaml.Node) List {
	fields := p.fields(document, "apiVersion", "kind", "deviations")
	if fields == nil {
		return List{}
	}
	p.constant(document, fields, "apiVersion", reports.APIVersion)
	p.constant(document, fields, "kind", Kind)
	var list List
	for _, entry := range p.entries(document, fields["deviations"]) {
		list.Deviations = append(list.Deviations, p.deviation(entry))
	}
	return list
}

func (p *parser) entries(document, n *yaml.Node) []*yaml.Node {
	switch {
	case n == nil:
		p.problem(document, "deviations is missing: an empty list is []")
		return nil
	case n.Kind != yaml.SequenceNode:
		p.problem(n, "deviations: want a list")
		return nil
	}
	return n.Content
}

func (p *parser) deviation(n *yaml.Node) Deviation {
	fields := p.fields(n, "cells", "checks", "requirement", "releases", "reason", "link")
	if fields == nil {
		return Deviation{}
	}
	for _, name := range []string{"cells", "reason", "link"} {
		if fields[name] == nil {
			p.problem(n, "%s is missing", name)
		}
	}
	if fields["checks"] == nil && fields["requirement"] == nil {
		p.problem(n, "checks or requirement is missing: an entry must say what fails")
	}
	return Deviation{
		At: p.at(n), Cells: value(p, fields["cells"], cellid.Compile), Checks: p.patterns(fields["checks"]),
		Requirement: p.text(fields["requirement"]), Releases: value(p, fields["releases"], parseReleases),
		Reason: p.text(fields["reason"]), Link: value(p, fields["link"], parseLink),
	}
}

// fields returns the values of a mapping by key, and refuses keys that are not
// among names, and duplicates. It returns nil for what is not a mapping.
func (p *parser) fields(n *yaml.Node, names ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		p.problem(n, "want a mapping with %s", strings.Join(names, ", "))
		return nil
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(names, key.Value):
			p.problem(key, "unknown field %q: there are %s", key.Value, strings.Join(names, ", "))
		case fields[key.Value] != nil:
			p.problem(key, "field %s is given twice", key.Value)
		default:
			fields[key.Value] = value
		}
	}
	return fields
}

func (p *parser) constant(parent *yaml.Node, fields map[string]*yaml.Node, name, want string) {
	n := fields[name]
	if n == nil {
		p.problem(parent, "%s is missing: want %s", name, want)
	} else if n.Kind != yaml.ScalarNode || n.Value != want {
		p.problem(n, "%s %q, where %q was expected", name, n.Value, want)
	}
}

// text returns a string, empty for a field that is not given.
func (p *parser) text(n *yaml.Node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind != yaml.ScalarNode || n.Tag != "!!str":
		p.problem(n, "want a string: quote it if YAML reads it as another type")
		return ""
	case strings.TrimSpace(n.Value) == "":
		p.problem(n, "it is empty")
	}
	return strings.TrimSpace(n.Value)
}

// value reads a string with a form of its own. It is the zero value for a field
// that is not given.
func value[T any](p *parser, n *yaml.Node, parse func(string) (T, error)) (v T) {
	text := p.text(n)
	if text == "" {
		return v
	}
	v, err := parse(text)
	if err != nil {
		p.problem(n, "%s", err)
	}
	return v
}

func parseLink(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		err = fmt.Errorf("%q is not the address of a web page", text)
	}
	return text, err
}

func (p *parser) patterns(n *yaml.Node) (patterns []cellid.Pattern) {
	if n == nil {
		return nil
	}
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 {
		p.problem(n, "it is empty: it would match nothing")
	}
	for _, item := range items {
		patterns = append(patterns, value(p, item, cellid.Compile))
	}
	return patterns
}
