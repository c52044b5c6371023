package spec

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/harness/strict"
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

// reference is a reference, perhaps without its end, or a literal ${.
var reference = regexp.MustCompile(`\$\$\{|\$\{[^}]*\}?`)

// replace returns the text with its references replaced, and what is wrong with
// them.
func (r references) replace(text string) (out replaced, mistakes []string) {
	out.text = reference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$${" {
			return "${"
		}
		name, closed := strings.CutSuffix(found[len("${"):], "}")
		if !closed {
			mistakes = append(mistakes, "a reference ends with }; a literal ${ is written $${")
			return ""
		}
		value, mistake := r.value(name)
		if mistake != "" {
			mistakes = append(mistakes, mistake)
		}
		out.unknown = out.unknown || value == ""
		out.whole = found == text
		return value
	})
	return out, mistakes
}

func (r references) value(name string) (value, mistake string) {
	value, known := r.values[name]
	if !known {
		names := slices.Sorted(maps.Keys(r.values))
		for _, meant := range spelling.Closest(name, names) {
			r.used[meant] = true
		}
		return "", fmt.Sprintf("${%s} names no axis: %s", strict.InQuotes(name), strict.DidYouMean(name, names))
	}
	r.used[name] = true
	return value, ""
}

// refersTo reports whether a node has a reference to an axis, or a condition that
// compares it.
func refersTo(n *yaml.Node, axis string) bool {
	if n.Kind == yaml.ScalarNode {
		return slices.Contains(reference.FindAllString(n.Value, -1), "${"+axis+"}")
	}
	for i, child := range n.Content {
		if refersTo(child, axis) || isCondition(n, i) && compares(child.Value, axis) {
			return true
		}
	}
	return false
}

// isCondition reports whether an entry of a node is where a condition is written.
func isCondition(n *yaml.Node, i int) bool {
	return n.Kind == yaml.MappingNode && i%2 == 1 && (n.Content[i-1].Value == "when" || n.Content[i-1].Value == "where")
}

// compares reports whether a text is a condition that compares a name.
func compares(text, name string) bool {
	condition, _ := ParseCondition(text)
	return slices.ContainsFunc(condition, func(c comparison) bool { return c.name == name })
}

// replace replaces the references in a scalar. Without quotes, one that is nothing but
// a reference has the type of its value.
func (r *reader) replace(n *yaml.Node, s strict.Scalar) (strict.Scalar, bool) {
	if r.literals[n] || !strings.Contains(n.Value, "${") {
		return s, true
	}
	text, mistakes := r.refs.replace(n.Value)
	for _, mistake := range mistakes {
		r.Source.Fail(n, "%s", mistake)
	}
	s = strict.Scalar{Text: text.text, Tag: "!!str", Whole: text.whole}
	if s.Whole && n.Style == 0 {
		s.Tag = (&yaml.Node{Kind: yaml.ScalarNode, Value: s.Text}).ShortTag()
	}
	return s, len(mistakes) == 0 && !text.unknown
}

// markLiterals marks where references are not replaced, and reports those that
// are there: what identifies a scenario is the same in all its cells.
func (r *reader) markLiterals() {
	for _, name := range []string{"apiVersion", "kind", "id", "title", "control", "axes", "where"} {
		if n, found := r.Find(name); found {
			r.literal(n)
		}
	}
}

func (r *reader) literal(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "${") {
		r.Source.Fail(n, "${ has a meaning in topology, images and steps only")
	}
	r.literals[n] = true
	for _, child := range n.Content {
		r.literal(child)
	}
}
