package mask

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/harness/spelling"
)

// Problem is something wrong with a path of a mask.
type Problem struct {
	// Path is the path, as it was given.
	Path string
	// Segment is the part of the path that is wrong. It may be empty.
	Segment string
	// Message says what is wrong and what would be right.
	Message string
}

// Error returns the path and the message.
func (p Problem) Error() string { return fmt.Sprintf("%s: %s", brief(p.Path), p.Message) }

// Problems is everything that is wrong with a mask: at least one problem, in
// the order of the paths.
type Problems []Problem

// Error returns every problem, one a line.
func (p Problems) Error() string { return p.Brief(len(p)) }

// Brief returns at most max problems, one a line, and how many there are
// besides.
func (p Problems) Brief(max int) string {
	var lines []string
	for _, problem := range p[:min(max, len(p))] {
		lines = append(lines, problem.Error())
	}
	if more := len(p) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// Parse returns the mask of a comma-separated list of paths. White space around
// a path doesn't matter, and a path that is named twice, or is part of another,
// is kept once. An empty text, or "*", keeps everything. The error, for a text
// that is too long or has paths that aren't in a pod, is Problems: all of them.
func Parse(text string) (Mask, error) {
	if len(text) > MaxBytes {
		return Mask{}, Problems{{Path: text, Message: fmt.Sprintf(
			"the mask has %d bytes, and at most %d are allowed: name the messages instead of each of their fields", len(text), MaxBytes)}}
	}
	text = strings.TrimSpace(text)
	if text == "" || text == Everything {
		return Mask{}, nil
	}
	var (
		root     *node
		problems Problems
		seen     = map[string]bool{}
	)
	for path := range strings.SplitSeq(text, ",") {
		path = strings.TrimSpace(path)
		if seen[path] {
			continue
		}
		seen[path] = true
		kept, problem := podMessage().keep(strings.Split(path, "."))
		if problem != nil {
			problem.Path = path
			problems = append(problems, *problem)
			continue
		}
		root = union(root, kept)
	}
	if len(problems) > 0 {
		return Mask{}, problems
	}
	return Mask{root}, nil
}

// keep returns what is kept of a message for the sake of one path.
func (m *message) keep(path []string) (*node, *Problem) {
	segment, rest := path[0], path[1:]
	f := m.field(segment)
	switch {
	case f == nil:
		return nil, &Problem{Segment: segment, Message: m.unknown(segment)}
	case len(rest) == 0:
		return m.with(f, whole), nil
	case f.kind != nested:
		return nil, &Problem{Segment: rest[0], Message: f.closed(rest[0])}
	}
	kept, problem := f.message.keep(rest)
	if problem != nil {
		return nil, problem
	}
	return m.with(f, kept), nil
}

const emptyName = "there is an empty name: names are separated by one dot, paths by one comma"

// unknown says what is wrong with a segment that names no field.
func (m *message) unknown(segment string) string {
	switch segment {
	case "":
		return emptyName
	case Everything:
		return "* alone means all fields: to select all of a message, end the path with its name"
	}
	message := fmt.Sprintf("%s has no field %s", m.name, brief(segment))
	if near := spelling.Closest(segment, m.names()); len(near) > 0 {
		message += fmt.Sprintf(": did you mean %q?", near[0])
	}
	return message
}

// names are those of the fields.
func (m *message) names() []string {
	names := make([]string, len(m.fields))
	for i, f := range m.fields {
		names[i] = f.name
	}
	return names
}

// closed says why a path can't go on in a field.
func (f *field) closed(segment string) string {
	if segment == "" {
		return emptyName
	}
	what := map[kind]string{scalar: "is no message", table: "is a map", value: "is one value"}[f.kind]
	return fmt.Sprintf("%s can't be named, because %s %s: end the path with %q", brief(segment), f.name, what, f.name)
}

// maxNamed is how much of a wrong name an error repeats, in bytes.
const maxNamed = 120

// brief returns a name for an error, quoted, and cut if it is long.
func brief(name string) string {
	if len(name) <= maxNamed {
		return fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("%q… (%d bytes)", name[:maxNamed], len(name))
}
