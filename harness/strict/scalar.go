package strict

import (
	"cmp"
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Scalar is a scalar of a file.
type Scalar struct {
	Text, Tag string
	// Whole is true if it was a reference and nothing else. Its value then is
	// whatever its place needs.
	Whole bool
}

// scalar reads a scalar node. Dates are text: JSON, which the API server
// speaks, has no type for them.
func (d *Decoder) scalar(n *yaml.Node) (Scalar, bool) {
	s := Scalar{Text: n.Value, Tag: n.Tag}
	if s.Tag == "!!timestamp" {
		s.Tag = "!!str"
	}
	if d.Replace == nil {
		return s, true
	}
	return d.Replace(n, s)
}

// value returns the scalar as JSON would have it: nil, bool, int64, float64 or
// string.
func (s Scalar) value() (any, bool) {
	if s.Tag == "!!str" || s.Tag == "!!timestamp" {
		return s.Text, true
	}
	var v any
	if err := (&yaml.Node{Kind: yaml.ScalarNode, Tag: s.Tag, Value: s.Text}).Decode(&v); err != nil {
		return nil, false
	}
	switch v := v.(type) {
	case nil, bool, string, int64:
		return v, true
	case int:
		return int64(v), true
	case float64:
		return v, !math.IsInf(v, 0) && !math.IsNaN(v)
	default:
		return nil, false
	}
}

// typed is the value that a scalar has in a place with a type of its own. A
// whole reference is read as if it had been written without quotes.
func (s Scalar) typed() (any, bool) {
	if s.Whole {
		s.Tag = (&yaml.Node{Kind: yaml.ScalarNode, Value: s.Text}).ShortTag()
	}
	return s.value()
}

// Hinter is a kind of text that says how it is written, if it was written as something
// else: 1.36 is a number, and v1.36 a release.
type Hinter interface{ Hint(written string) string }

// basic fills a string, a boolean or a number.
func (d *Decoder) basic(n *yaml.Node, out reflect.Value) bool {
	wanted := cmp.Or(kinds[out.Kind()], "a whole number")
	if n.Kind != yaml.ScalarNode {
		d.Fail(n, "this must be %s, not %s", wanted, KindOf(n))
		return false
	}
	s, ok := d.scalar(n)
	if !ok {
		return false
	}
	if setBasic(s, out) {
		return true
	}
	hint := ""
	if out.Kind() == reflect.String {
		hint = ": put it in quotes"
	}
	if own, is := reflect.TypeAssert[Hinter](out); is {
		hint = ": " + own.Hint(n.Value)
	}
	d.Fail(n, "this must be %s, not %s %s%s", wanted, kindOfTag(s.Tag), Quote(s.Text), hint)
	return false
}

func setBasic(s Scalar, out reflect.Value) bool {
	if out.Kind() == reflect.String {
		out.SetString(s.Text)
		return s.Whole || s.Tag == "!!str"
	}
	value, ok := s.typed()
	switch v := value.(type) {
	case bool:
		if ok && out.Kind() == reflect.Bool {
			out.SetBool(v)
			return true
		}
	case int64:
		if ok && out.CanInt() && !out.OverflowInt(v) {
			out.SetInt(v)
			return true
		}
		if ok && out.CanFloat() {
			out.SetFloat(float64(v))
			return true
		}
	case float64:
		if ok && out.CanFloat() {
			out.SetFloat(v)
			return true
		}
	}
	return false
}

// kinds are what values are called, unless they are whole numbers of any length.
var kinds = map[reflect.Kind]string{
	reflect.String: "text", reflect.Bool: "true or false", reflect.Int32: "a whole number of 32 bits", reflect.Float64: "a number",
}

// unmarshaler fills a type that reads itself from JSON, such as a duration.
func (d *Decoder) unmarshaler(n *yaml.Node, own json.Unmarshaler) bool {
	if n.Kind != yaml.ScalarNode || IsNull(n) {
		d.Fail(n, "this must be a single value, not %s", KindOf(n))
		return false
	}
	s, ok := d.scalar(n)
	if !ok {
		return false
	}
	if s.Whole {
		s.Tag = "!!str"
	}
	value, ok := s.value()
	text, err := json.Marshal(value)
	if !ok || err != nil {
		d.Fail(n, "this must be a single value, not %s", KindOf(n))
		return false
	}
	if err := own.UnmarshalJSON(text); err != nil {
		d.Fail(n, "%s", err)
		return false
	}
	return true
}

// text fills a type that reads itself from text. What it can't read is wrong for
// what it says.
func (d *Decoder) text(n *yaml.Node, own encoding.TextUnmarshaler) bool {
	var text string
	if IsNull(n) {
		d.Fail(n, "there is no value: give one, or leave the field out")
		return false
	}
	if !d.basic(n, reflect.ValueOf(&text).Elem()) {
		return false
	}
	if err := own.UnmarshalText([]byte(text)); err != nil {
		d.Note(n, "%v", err)
	}
	return true
}

// free fills an any with what JSON has: an object, a list or a scalar.
func (d *Decoder) free(n *yaml.Node, out reflect.Value) bool {
	switch n.Kind {
	case yaml.MappingNode:
		object := reflect.New(reflect.TypeFor[map[string]any]()).Elem()
		ok := d.mapping(n, object)
		out.Set(object)
		return ok
	case yaml.SequenceNode:
		list := reflect.New(reflect.TypeFor[[]any]()).Elem()
		ok := d.list(n, list)
		out.Set(list)
		return ok
	}
	s, ok := d.scalar(n)
	if !ok {
		return false
	}
	if s.Tag == "!!str" && n.Style == 0 && ambiguous(s.Text) {
		d.Fail(n, "%s is text to some readers of YAML and a boolean to others: write true or false, or put it in quotes", s.Text)
		return false
	}
	value, ok := s.value()
	if !ok {
		d.Fail(n, "%s can't be written as JSON", KindOf(n))
		return false
	}
	if value != nil {
		out.Set(reflect.ValueOf(value))
	}
	return true
}

// ambiguous reports whether YAML 1.1, which kubectl reads, and YAML 1.2
// disagree about a plain scalar.
func ambiguous(text string) bool {
	switch strings.ToLower(text) {
	case "yes", "no", "on", "off":
		return true
	default:
		return false
	}
}
