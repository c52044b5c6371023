package spec

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Position is a place in a file. Both count from 1, columns in characters.
type Position struct{ Line, Column int }

// Position returns where a field of the scenario stands: that of its value.
// Paths are written steps[0].checks[1].observe, and gates["X"] for the entry of
// a map. For a field that isn't in the file, it is the position of what should
// contain it. A file that wasn't read from a text has no positions.
func (f *File) Position(path string) Position {
	if f.root == nil {
		return Position{}
	}
	n, _ := find(f.root, path)
	return Position{Line: n.Line, Column: n.Column}
}

// find returns the node at a path and true, or the last node on the way to it
// and false.
func find(n *yaml.Node, path string) (*yaml.Node, bool) {
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
