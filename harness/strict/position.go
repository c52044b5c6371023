package strict

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Position is a place in a file. Line and Column count from 1, columns in
// characters.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String returns the position as editors and compilers write it.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// ParsePosition reads a position that String has written, and returns false for any other text.
func ParsePosition(text string) (p Position, is bool) {
	rest, column := cutNumber(text)
	p.File, p.Line = cutNumber(rest)
	p.Column = column
	return p, p.Line > 0 && p.Column > 0
}

// cutNumber cuts a number off that ends a text after a colon. Without one, it returns 0.
func cutNumber(text string) (rest string, n int) {
	at := max(0, strings.LastIndexByte(text, ':'))
	n, err := strconv.Atoi(strings.TrimPrefix(text[at:], ":"))
	if err != nil {
		return text, 0
	}
	return text[:at], n
}

// Find returns the node at a path and true, or the last node on the way to it
// and false.
func Find(n *yaml.Node, path string) (*yaml.Node, bool) {
	for path != "" {
		segment, rest, ok := cutSegment(path)
		if !ok {
			return n, false
		}
		child := segment.in(n)
		if child == nil {
			return n, false
		}
		n, path = child, rest
	}
	return n, true
}

// segment is a step of a path: into the entry of a mapping, or into the item of
// a list where the index is not negative.
type segment struct {
	name  string
	index int
}

func cutSegment(path string) (s segment, rest string, ok bool) {
	if !strings.HasPrefix(path, "[") {
		path = strings.TrimPrefix(path, ".")
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		return segment{name: path[:end], index: -1}, path[end:], end > 0
	}
	if quoted, err := strconv.QuotedPrefix(path[1:]); err == nil {
		name, err := strconv.Unquote(quoted)
		rest, closed := strings.CutPrefix(path[1+len(quoted):], "]")
		return segment{name: name, index: -1}, rest, err == nil && closed
	}
	number, rest, closed := strings.Cut(path[1:], "]")
	index, err := strconv.Atoi(number)
	return segment{index: index}, rest, closed && err == nil && index >= 0
}

func (s segment) in(n *yaml.Node) *yaml.Node {
	switch {
	case s.index < 0 && n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == s.name {
				return n.Content[i+1]
			}
		}
	case s.index >= 0 && n.Kind == yaml.SequenceNode && s.index < len(n.Content):
		return n.Content[s.index]
	case s.index == 0 && n.Kind == yaml.MappingNode:
		return n // a list of one object may be written without the list
	}
	return nil
}
