package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// references replaces ${axis} by the value that a cell has on the axis. It is
// the whole of the language's templating: there are no expressions in it.
//
// $${ is a literal ${. A scalar that is nothing but a reference takes on the
// value's own type where YAML would give it one: true or 8443 written without
// quotes. One in quotes, or with other text around it, is text.
type references struct {
	// values has an entry for each axis. An axis that is itself wrong has the
	// empty value: what refers to it can't be judged.
	values map[string]string
	used   map[string]bool
}

// replaced is the text of a scalar without references.
type replaced struct {
	text string
	// whole is true if the scalar was one reference and nothing else.
	whole bool
	// unknown is true if a reference has no value to be replaced by, for a
	// reason that is reported elsewhere.
	unknown bool
}

// replace returns the text with its references replaced, and what is wrong with
// them.
func (r references) replace(text string) (replaced, []string) {
	var (
		out      replaced
		b        strings.Builder
		mistakes []string
	)
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			b.WriteString(rest)
			break
		}
		if literal, escaped := strings.CutSuffix(before, "$"); escaped {
			b.WriteString(literal + "${")
			rest = after
			continue
		}
		b.WriteString(before)
		name, behind, closed := strings.Cut(after, "}")
		if !closed {
			mistakes = append(mistakes, "a reference ends with }; a literal ${ is written $${")
			break
		}
		value, mistake := r.value(name)
		if mistake != "" {
			mistakes = append(mistakes, mistake)
		}
		out.unknown = out.unknown || value == ""
		out.whole = before == "" && behind == "" && len(rest) == len(text)
		b.WriteString(value)
		rest = behind
	}
	out.text = b.String()
	return out, mistakes
}

func (r references) value(name string) (value, mistake string) {
	value, known := r.values[name]
	if !known {
		names := slices.Sorted(maps.Keys(r.values))
		return "", fmt.Sprintf("${%s} names no axis: %s", inQuotes(name), didYouMean(name, names))
	}
	r.used[name] = true
	return value, ""
}

// markLiterals marks where references are not replaced, and reports those that
// are there: what identifies a scenario is the same in all its cells.
func (r *reader) markLiterals(root *yaml.Node) {
	for _, name := range []string{"apiVersion", "kind", "id", "title", "control", "axes", "where"} {
		if n, found := find(root, name); found {
			r.literal(n)
		}
	}
}

func (s *source) literal(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "${") {
		s.report(n, "${ has a meaning in topology, images and steps only")
	}
	s.literals[n] = true
	for _, child := range n.Content {
		s.literal(child)
	}
}
