package spec

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/harness/strict"
)

// useSequences replaces each step that uses a sequence by the sequence's own
// steps, before anything is decoded: what is found wrong with them is reported
// where they stand. ${name} in a sequence is the value that the step gives it
// in with; other references are axes, as everywhere.
func (r *reader) useSequences() {
	sequences := r.sequences()
	steps, found := r.Find("steps")
	if !found || steps.Kind != yaml.SequenceNode {
		return
	}
	used := make(map[string]bool)
	var all []*yaml.Node
	for _, step := range steps.Content {
		use, uses := strict.Find(step, "use")
		if len(all) > maxSteps {
			break // which is reported
		}
		if step.Kind != yaml.MappingNode || !uses {
			all = append(all, step)
			continue
		}
		sequence, defined := sequences[use.Value]
		if sequence == nil || r.Source.Bad[sequence] {
			r.Source.Bad[steps] = true // some are missing
		}
		switch {
		case use.Kind != yaml.ScalarNode:
			r.Source.Fail(use, "this must be the name of a sequence, not %s", strict.KindOf(use))
		case !defined:
			r.Source.Fail(use, "there is no sequence %s: %s", strict.Quote(use.Value), strict.DidYouMean(use.Value, slices.Sorted(maps.Keys(sequences))))
		case sequence != nil:
			all = append(all, r.filled(sequence, r.with(step))...)
		}
		used[use.Value] = true
	}
	steps.Content = all
	for name := range sequences {
		if n, found := r.Find("sequences"); found && !used[name] {
			key, _ := strict.Find(n, name)
			r.Source.Note(key, "no step uses the sequence %s", strict.Quote(name))
		}
	}
	r.dropKey("sequences")
}

// sequences returns the steps of each sequence, nil of one that is not in order.
func (r *reader) sequences() map[string]*yaml.Node {
	steps := make(map[string]*yaml.Node)
	n, found := r.Find("sequences")
	if !found {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		r.Source.Fail(n, "this must be a mapping of names to lists of steps, not %s", strict.KindOf(n))
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, list := n.Content[i], n.Content[i+1]
		if _, again := steps[name.Value]; again {
			r.Source.Fail(name, "%s is there already", strict.Quote(name.Value))
		}
		steps[name.Value] = nil
		switch {
		case list.Kind != yaml.SequenceNode:
			r.Source.Fail(list, "this must be a list of steps, not %s", strict.KindOf(list))
		case len(list.Content) == 0:
			r.Source.Fail(list, "the sequence has no steps")
		default:
			r.refuseNested(list)
			steps[name.Value] = list
		}
	}
	return steps
}

// refuseNested reports steps of a sequence that use another one, and takes them
// out.
func (r *reader) refuseNested(sequence *yaml.Node) {
	sequence.Content = slices.DeleteFunc(sequence.Content, func(step *yaml.Node) bool {
		use, uses := strict.Find(step, "use")
		if uses && step.Kind == yaml.MappingNode {
			r.Source.Fail(use, "a sequence can't use another one")
			r.Source.Bad[sequence] = true
			return true
		}
		return false
	})
}

// with returns the values that a step gives to a sequence.
func (r *reader) with(step *yaml.Node) map[string]string {
	values := make(map[string]string)
	for i := 0; i+1 < len(step.Content); i += 2 {
		key, value := step.Content[i], step.Content[i+1]
		switch {
		case key.Value == "use":
		case key.Value != "with":
			r.Source.Fail(key, "a step that uses a sequence has nothing else than with")
		case value.Kind != yaml.MappingNode:
			r.Source.Fail(value, "this must be a mapping, not %s", strict.KindOf(value))
		default:
			for j := 0; j+1 < len(value.Content); j += 2 {
				if item := value.Content[j+1]; item.Kind != yaml.ScalarNode {
					r.Source.Fail(item, "this must be a single value, not %s", strict.KindOf(item))
				}
				values[value.Content[j].Value] = value.Content[j+1].Value
			}
		}
	}
	return values
}

// filled returns copies of a sequence's steps with the values in them.
func (r *reader) filled(sequence *yaml.Node, values map[string]string) []*yaml.Node {
	used := make(map[string]bool)
	var fill func(n *yaml.Node) *yaml.Node
	fill = func(n *yaml.Node) *yaml.Node {
		filled := *n
		if n.Kind == yaml.ScalarNode {
			for _, name := range slices.Sorted(maps.Keys(values)) {
				reference := "${" + name + "}"
				used[name] = used[name] || strings.Contains(n.Value, reference)
				if r.filledIn += strings.Count(filled.Value, reference) * len(values[name]); r.filledIn > maxDecoded {
					r.Source.Fail(n, "too long: what steps give to sequences must be at most %d bytes together; "+several, maxDecoded)
					break
				}
				filled.Value = strings.ReplaceAll(filled.Value, reference, values[name])
			}
			if filled.Value != n.Value && n.Style == 0 {
				filled.Tag = (&yaml.Node{Kind: yaml.ScalarNode, Value: filled.Value}).ShortTag()
			}
		}
		filled.Content = make([]*yaml.Node, len(n.Content))
		for i, child := range n.Content {
			filled.Content[i] = fill(child)
		}
		return &filled
	}
	steps := fill(sequence).Content
	for name := range values {
		if !used[name] {
			r.Source.Note(sequence, "nothing in the sequence refers to ${%s}", strict.InQuotes(name))
		}
	}
	return steps
}

func (r *reader) dropKey(name string) {
	root := r.Root
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == name {
			root.Content = slices.Delete(root.Content, i, i+2)
			return
		}
	}
}
