package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

const (
	// maxText is the largest file that is read, in bytes.
	maxText = 1 << 20
	// maxDepth is how deep mappings and lists may be nested. The schema in a
	// CustomResourceDefinition gets to about 40.
	maxDepth = 100
	// maxDocuments is how many documents a manifest file may hold.
	maxDocuments = 200
)

// source is the text of a file as YAML nodes, with what is wrong with it.
type source struct {
	file     string
	problems *collector
	kinds    []ActionKind
	// bad holds the nodes that could not be decoded, and the nodes around
	// them. What they amount to isn't known, so it isn't judged.
	bad map[*yaml.Node]bool
	// literals are the scalars in which references are not replaced.
	literals map[*yaml.Node]bool
}

func newSource(file string, problems *collector, kinds ...ActionKind) *source {
	return &source{
		file: file, problems: problems, kinds: kinds,
		bad: make(map[*yaml.Node]bool), literals: make(map[*yaml.Node]bool),
	}
}

// report reports a node that could not be decoded.
func (s *source) report(n *yaml.Node, format string, args ...any) {
	s.bad[n] = true
	s.note(n, format, args...)
}

// note reports a node that could be decoded, and is wrong for what it says.
func (s *source) note(n *yaml.Node, format string, args ...any) {
	s.problems.add(Problem{File: s.file, Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)})
}

// parse reads all documents of a text. It returns those before the first
// syntax error, after which nothing can be known.
func (s *source) parse(text []byte) []*yaml.Node {
	if len(text) > maxText {
		s.report(&yaml.Node{Line: 1, Column: 1}, "the file is longer than %d bytes", maxText)
		return nil
	}
	var documents []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		document, err := next(decoder)
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			s.syntax(err)
			return documents
		}
		if len(documents) == maxDocuments {
			s.report(document, "the file holds more than %d documents", maxDocuments)
			return documents
		}
		s.inspect(document, 0)
		documents = append(documents, document)
	}
}

// next reads one document. The YAML library panics on some malformed texts; for
// a reader of files that is a syntax error like any other.
func next(decoder *yaml.Decoder) (root *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed: %v", r)
		}
	}()
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	return document.Content[0], nil
}

var syntaxLine = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// syntax reports an error of the YAML library, which tells the line in its
// text and no column.
func (s *source) syntax(err error) {
	parts := syntaxLine.FindStringSubmatch(err.Error())
	line, convErr := strconv.Atoi(parts[1])
	if convErr != nil {
		line = 1
	}
	s.report(&yaml.Node{Line: line, Column: 1}, "this is not YAML: %s", parts[2])
}

// inspect reports what no part of a file may contain, whatever it means. A node
// is visited once, since aliases are not followed.
func (s *source) inspect(n *yaml.Node, depth int) {
	switch {
	case depth > maxDepth:
		s.report(n, "nested more than %d levels deep", maxDepth)
		n.Content = nil
		return
	case n.Kind == yaml.AliasNode:
		s.report(n, "aliases are not supported: write out what *%s stands for", inQuotes(n.Value))
		return
	case n.Anchor != "":
		s.report(n, "anchors are not supported: leave out &%s", inQuotes(n.Anchor))
	case n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!str":
		s.report(n, "the tag %s is not supported: write the value without it", inQuotes(n.Tag))
	}
	for _, child := range n.Content {
		s.inspect(child, depth+1)
		if s.bad[child] {
			s.bad[n] = true
		}
	}
}
