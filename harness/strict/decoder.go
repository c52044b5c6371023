// Package strict decodes YAML files: what a type has no place for is an error,
// and all errors of a file are reported at once, each with its line and column.
package strict

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/harness/spelling"
)

// OrTrue marks a struct for which true may stand: its zero value.
type OrTrue interface{ OrTrue() }

// OrFirst marks a struct for which the value of its first field may stand alone.
type OrFirst interface{ OrFirst() }

// Decoder turns YAML nodes into Go values, strictly: what a type has no place
// for is a problem, and all problems are reported. The names of fields are
// those of their json tags, also in an embedded struct. A field whose tag doesn't say omitempty or omitzero is
// required.
type Decoder struct {
	*Source
	// Replace returns a scalar with the references in it replaced, and false if
	// they can't be. If unset, there are no references.
	Replace func(*yaml.Node, Scalar) (Scalar, bool)
	// More returns the names of further fields that a struct has, to which out
	// points, and what decodes one. If unset, no struct has any.
	More func(out any) (names []string, decode func(name string, n *yaml.Node) bool)
}

// Decode fills out, and reports whether nothing was wrong.
func (d *Decoder) Decode(n *yaml.Node, out reflect.Value) bool {
	ok := d.into(n, out)
	if !ok || d.Bad[n] {
		d.Bad[n] = true
		return false
	}
	return true
}

func (d *Decoder) into(n *yaml.Node, out reflect.Value) bool {
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
		return d.Decode(n, out.Elem())
	case IsNull(n):
		d.Fail(n, "there is no value: give one, or leave the field out")
		return false
	case kind == reflect.Struct && n.Kind == yaml.ScalarNode && n.Tag == "!!bool" && n.Value == "true" && out.Type().Implements(reflect.TypeFor[OrTrue]()):
		return true
	case kind == reflect.Struct && n.Kind == yaml.ScalarNode && out.Type().Implements(reflect.TypeFor[OrFirst]()):
		return d.into(n, out.Field(0))
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

// IsNull reports whether a node is an empty value.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// pair is an entry of a mapping whose key is in order.
type pair struct {
	name       string
	key, value *yaml.Node
}

// pairs returns the entries of a mapping, and reports keys that are there twice
// or are no strings.
func (d *Decoder) pairs(n *yaml.Node) (entries []pair, ok bool) {
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
			d.Fail(key, "%s is there already, in line %d", Quote(name), first[name].Line)
			ok = false
			continue
		}
		first[name] = key
		entries = append(entries, pair{name: name, key: key, value: n.Content[i+1]})
	}
	return entries, ok
}

func (d *Decoder) key(n *yaml.Node) (string, bool) {
	switch {
	case n.Kind == yaml.AliasNode:
		return "", false
	case n.Kind == yaml.ScalarNode && n.Tag == "!!merge":
		d.Fail(n, "merge keys are not supported: write the fields out")
		return "", false
	case n.Kind != yaml.ScalarNode:
		d.Fail(n, "a key is text, this is %s", KindOf(n))
		return "", false
	}
	s, ok := d.scalar(n)
	if ok && s.Tag != "!!str" && !s.Whole {
		d.Fail(n, "a key is text, this is %s: put it in quotes", KindOf(n))
		return "", false
	}
	return s.Text, ok
}

// field is a field of a struct under its name in a file.
type field struct {
	name     string
	index    []int
	required bool
}

func fieldsOf(t reflect.Type) []field {
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		fields = append(fields, field{name: name, index: f.Index, required: !strings.Contains(options, "omit")})
	}
	return fields
}

func (d *Decoder) structure(n *yaml.Node, out reflect.Value) bool {
	fields := fieldsOf(out.Type())
	if n.Kind != yaml.MappingNode {
		d.Fail(n, "this must be a mapping of fields, not %s%s", KindOf(n), inPlace(n, fields))
		return false
	}
	var more []string
	var decode func(string, *yaml.Node) bool
	if d.More != nil {
		more, decode = d.More(out.Addr().Interface())
	}
	entries, ok := d.pairs(n)
	present := make(map[string]bool)
	for _, entry := range entries {
		present[entry.name] = true
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == entry.name })
		switch {
		case slices.Contains(more, entry.name):
			ok = decode(entry.name, entry.value) && ok
		case i < 0:
			all := append(names(fields), more...)
			d.Fail(entry.key, "unknown field %s: %s", Quote(entry.name), DidYouMean(entry.name, all))
			for _, meant := range spelling.Closest(entry.name, all) {
				present[meant] = true
			}
			ok = false
		default:
			ok = d.Decode(entry.value, out.FieldByIndex(fields[i].index)) && ok
		}
	}
	for _, f := range fields {
		if f.required && !present[f.name] {
			d.Fail(n, "the field %s is missing", f.name)
			ok = false
		}
	}
	return ok
}

// inPlace says how a single value is written in place of the mapping of fields that it
// stands for: as the one that is required.
func inPlace(n *yaml.Node, fields []field) string {
	required := slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return !f.required })
	if n.Kind != yaml.ScalarNode || IsNull(n) || len(required) != 1 {
		return ""
	}
	return fmt.Sprintf(": write {%s: %s}", required[0].name, InQuotes(n.Value))
}

func names(fields []field) []string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.name
	}
	return all
}

func (d *Decoder) mapping(n *yaml.Node, out reflect.Value) bool {
	if n.Kind != yaml.MappingNode {
		d.Fail(n, "this must be a mapping, not %s", KindOf(n))
		return false
	}
	entries, ok := d.pairs(n)
	out.Set(reflect.MakeMapWithSize(out.Type(), len(entries)))
	for _, entry := range entries {
		value := reflect.New(out.Type().Elem()).Elem()
		if !d.Decode(entry.value, value) {
			ok = false
			continue
		}
		out.SetMapIndex(reflect.ValueOf(entry.name).Convert(out.Type().Key()), value)
	}
	return ok
}

// OneOrMore is a list that may be written as its item if it has just one.
type OneOrMore interface{ OneOrMore() }

func (d *Decoder) list(n *yaml.Node, out reflect.Value) bool {
	items := n.Content
	if _, one := reflect.TypeAssert[OneOrMore](out); one && n.Kind != yaml.SequenceNode && !IsNull(n) {
		items = []*yaml.Node{n}
	} else if n.Kind != yaml.SequenceNode {
		d.Fail(n, "this must be a list, not %s", KindOf(n))
		return false
	}
	ok := true
	out.Set(reflect.MakeSlice(out.Type(), len(items), len(items)))
	for i, item := range items {
		ok = d.Decode(item, out.Index(i)) && ok
	}
	return ok
}

// KindOf names what a node is, for messages.
func KindOf(n *yaml.Node) string {
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
	known := map[string]string{"!!int": "the number", "!!float": "the number", "!!bool": "the boolean", "!!null": "the empty value"}
	return cmp.Or(known[tag], "the text")
}
