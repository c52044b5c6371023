package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/harness/files"
)

const (
	// maxDepth is how deep mappings and lists may be nested. The schema in a
	// CustomResourceDefinition gets to about 40.
	maxDepth = 100
	// maxDocuments is how many documents a manifest file may hold.
	maxDocuments = 200
)

// Source is the text of a file as YAML nodes, with what is wrong with it.
type Source struct {
	File     string
	Problems *Problems
	// Bad holds the nodes that could not be decoded, and the nodes around
	// them. What they amount to isn't known, so it isn't judged.
	Bad map[*yaml.Node]bool
}

// NewSource returns the source of a file, whose problems are added to others.
func NewSource(file string, problems *Problems) *Source {
	return &Source{File: file, Problems: problems, Bad: make(map[*yaml.Node]bool)}
}

// Fail reports a node that could not be decoded.
func (s *Source) Fail(n *yaml.Node, format string, args ...any) {
	s.Bad[n] = true
	s.Note(n, format, args...)
}

// Note reports a node that could be decoded, and is wrong for what it says.
func (s *Source) Note(n *yaml.Node, format string, args ...any) {
	s.Problems.add(Problem{Position: Position{s.File, n.Line, n.Column}, Message: fmt.Sprintf(format, args...)})
}

// Parse reads all documents of a text. It returns those before the first
// syntax error, after which nothing can be known.
func (s *Source) Parse(text []byte) []*yaml.Node {
	if len(text) > files.MaxText {
		s.Fail(&yaml.Node{Line: 1, Column: 1}, "the file is too large: must be at most %d MiB", files.MaxText>>20)
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
			s.syntax(string(text), err)
			return documents
		}
		if len(documents) == maxDocuments {
			s.Fail(document, "the file holds more than %d documents", maxDocuments)
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

// syntax reports an error of the YAML library, which tells a line in its text and no
// column. The line may be that in which what is wrong begins.
func (s *Source) syntax(text string, err error) {
	parts := syntaxLine.FindStringSubmatch(err.Error())
	line, convErr := strconv.Atoi(parts[1])
	if convErr != nil {
		line = 1
	}
	lines := strings.SplitAfter(text, "\n")
	line = brokenLine(lines, line, readLines(text), isYAML)
	at := ""
	if line <= len(lines) {
		at = lines[line-1]
	}
	indent := at[:len(at)-len(strings.TrimLeft(at, " \t"))]
	if strings.Contains(indent, "\t") {
		s.Fail(&yaml.Node{Line: line, Column: 1 + strings.Index(indent, "\t")}, "this is not YAML: there is a tab; indent with spaces")
		return
	}
	s.Fail(&yaml.Node{Line: line, Column: 1 + len(indent)}, "this is not YAML: %s; look at the indentation, quotes and brackets here", parts[2])
}

// maxParsed is how many bytes are parsed to find the line that is broken.
const maxParsed = files.MaxText

// brokenLine is the last line before which a text is YAML. The YAML library names no line after
// the broken one, and has read no line before it, but perhaps some after it.
func brokenLine(lines []string, named, read int, isYAML func(string) bool) int {
	parsed := 0
	for line := min(read, len(lines)); line > named; line-- {
		before := strings.Join(lines[:line-1], "")
		if parsed += len(before); parsed > maxParsed {
			break
		}
		if isYAML(before) {
			return line
		}
	}
	return named
}

func isYAML(text string) bool {
	return errors.Is(parse(strings.NewReader(text)), io.EOF)
}

// parse parses all that a reader has, or what is before a syntax error.
func parse(from io.Reader) (err error) {
	for decoder := yaml.NewDecoder(from); err == nil; {
		_, err = next(decoder)
	}
	return err
}

// ahead is how many characters the YAML library reads beyond one that can be an error.
const ahead = 2

// readLines returns how many lines of a broken text the YAML library reads.
func readLines(text string) int {
	from := byteReader{text: text}
	_ = parse(&from) // is the error that is known
	return 1 + strings.Count(text[:max(0, from.read-ahead)], "\n")
}

// byteReader reads a text byte by byte, so that no more of it is read than necessary.
type byteReader struct {
	text string
	read int
}

func (r *byteReader) Read(p []byte) (int, error) {
	if r.read == len(r.text) {
		return 0, io.EOF
	}
	p[0] = r.text[r.read]
	r.read++
	return 1, nil
}

// inspect reports what no part of a file may contain, whatever it means. A node
// is visited once, since aliases are not followed.
func (s *Source) inspect(n *yaml.Node, depth int) {
	switch {
	case depth > maxDepth:
		s.Fail(n, "nested more than %d levels deep", maxDepth)
		n.Content = nil
		return
	case n.Kind == yaml.AliasNode:
		s.Fail(n, "aliases are not supported: write out what *%s stands for", InQuotes(n.Value))
		return
	case n.Anchor != "":
		s.Fail(n, "anchors are not supported: leave out &%s", InQuotes(n.Anchor))
	case n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!str":
		s.Fail(n, "the tag %s is not supported: write the value without it", InQuotes(n.Tag))
	}
	for _, child := range n.Content {
		s.inspect(child, depth+1)
		if s.Bad[child] {
			s.Bad[n] = true
		}
	}
}
