package spec

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decoder turns YAML nodes into Go values, strictly: what a type has no place
// for is a problem, and all problems are reported. The names of fields are
// those of their json tags. A field whose tag doesn't say omitempty or omitzero is
// required.
type decoder struct {
	*source
	refs references
}

// decode fills out, and reports whether nothing was wrong.
func (d *decoder) decode(n *yaml.Node, out reflect.Value) bool {
	ok := d.into(n, out)
	if !ok || d.bad[n] {
		d.bad[n] = true
		return false
	}
	return true
}

func (d *decoder) into(n *yaml.Node, out reflect.Value) bool {
	if n.Kind == yaml.AliasNode {
		return false // inspect said why
	}
	if own, ok := reflect.TypeAssert[json.Unmarshaler](out.Addr()); ok {
		return d.unmarshaler(n, own)
	}
	if own, ok := reflect.TypeAssert[encoding.TextUnmarshaler](out.Addr()); ok {
		return d.text(n, own)
	}
	switch kind := out.Kind(); {
	case kind == reflect.Interface:
		return d.free(n, out)
	case kind == reflect.Pointer:
		out.Set(reflect.New(out.Type().Elem()))
		return d.decode(n, out.Elem())
	case isNull(n):
		d.report(n, "there is no value: give one, or leave the field out")
		return false
	case kind == reflect.Struct:
		return d.structure(n, out)
	case kind == reflect.Map:
		return d.mapping(n, out)
	case kind == reflect.Slice:
		return d.list(n, out)
	default:
		return d.basic(n, out)
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// pair is an entry of a mapping whose key is in order.
type pair struct {
	name       string
	key, value *yaml.Node
}

// pairs returns the entries of a mapping, and reports keys that are there twice
// or are no strings.
func (d *decoder) pairs(n *yaml.Node) (entries []pair, ok bool) {
	ok = true
	first := make(map[string]*yaml.Node)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		name, isName := d.key(key)
		if !isName {
			ok = false
			continue
		}
		if first[name] != nil {
			d.report(key, "%s is there already, in line %d", Quote(name), first[name].Line)
			ok = false
			continue
		}
		first[name] = key
		entries = append(entries, pair{name: name, key: key, value: n.Content[i+1]})
	}
	return entries, ok
}

func (d *decoder) key(n *yaml.Node) (string, bool) {
	switch {
	case n.Kind == yaml.AliasNode:
		return "", false
	case n.Kind == yaml.ScalarNode && n.Tag == "!!merge":
		d.report(n, "merge keys are not supported: write the fields out")
		return "", false
	case n.Kind != yaml.ScalarNode:
		d.report(n, "a key is text, this is %s", kindOf(n))
		return "", false
	}
	s, ok := d.scalar(n)
	if ok && s.tag != "!!str" && !s.whole {
		d.report(n, "a key is text, this is %s: put it in quotes", kindOf(n))
		return "", false
	}
	return s.text, ok
}

// field is a field of a struct under its name in a file.
type field struct {
	name     string
	index    int
	required bool
}

func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" || !t.Field(i).IsExported() {
			continue
		}
		fields = append(fields, field{name: name, index: i, required: !strings.Contains(options, "omit")})
	}
	return fields
}

func (d *decoder) structure(n *yaml.Node, out reflect.Value) bool {
	if n.Kind != yaml.MappingNode {
		d.report(n, "this must be a mapping of fields, not %s", kindOf(n))
		return false
	}
	fields := fieldsOf(out.Type())
	entries, ok := d.pairs(n)
	present := make(map[string]bool)
	for _, entry := range entries {
		present[entry.name] = true
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == entry.name })
		step, isStep := reflect.TypeAssert[*Step](out.Addr())
		if kind, known := d.kind(entry.name); isStep && known {
			ok = d.action(kind, entry.value, step) && ok
			continue
		}
		if i < 0 {
			known := names(fields)
			if isStep {
				known = append(known, d.kindNames(nil)...)
			}
			d.report(entry.key, "unknown field %s: %s", Quote(entry.name), didYouMean(entry.name, known))
			ok = false
			continue
		}
		ok = d.decode(entry.value, out.Field(fields[i].index)) && ok
	}
	for _, f := range fields {
		if f.required && !present[f.name] {
			d.report(n, "the field %s is missing", f.name)
			ok = false
		}
	}
	return ok
}

func names(fields []field) []string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.name
	}
	return all
}

func (d *decoder) mapping(n *yaml.Node, out reflect.Value) bool {
	if n.Kind != yaml.MappingNode {
		d.report(n, "this must be a mapping, not %s", kindOf(n))
		return false
	}
	entries, ok := d.pairs(n)
	out.Set(reflect.MakeMapWithSize(out.Type(), len(entries)))
	for _, entry := range entries {
		value := reflect.New(out.Type().Elem()).Elem()
		if !d.decode(entry.value, value) {
			ok = false
			continue
		}
		out.SetMapIndex(reflect.ValueOf(entry.name).Convert(out.Type().Key()), value)
	}
	return ok
}

func (d *decoder) list(n *yaml.Node, out reflect.Value) bool {
	items := n.Content
	if out.Type().Elem() == reflect.TypeFor[map[string]any]() && n.Kind == yaml.MappingNode {
		items = []*yaml.Node{n}
	} else if n.Kind != yaml.SequenceNode {
		d.report(n, "this must be a list, not %s", kindOf(n))
		return false
	}
	ok := true
	out.Set(reflect.MakeSlice(out.Type(), len(items), len(items)))
	for i, item := range items {
		ok = d.decode(item, out.Index(i)) && ok
	}
	return ok
}

// kindOf names what a node is, for messages.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		return kindOfTag(n.Tag) + " " + Quote(n.Value)
	default:
		return "an alias"
	}
}

func kindOfTag(tag string) string {
	switch tag {
	case "!!int", "!!float":
		return "the number"
	case "!!bool":
		return "the boolean"
	case "!!null":
		return "the empty value"
	default:
		return "the text"
	}
}
