package timeline

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Raw is JSON that is decoded when it is asked for: an object as the API server
// returned it, with fields that no type has.
type Raw struct {
	text    json.RawMessage
	list    string // a field that is a list also where it was left out; empty if there is none
	value   any
	decoded bool
}

// NewRaw returns JSON to be decoded.
func NewRaw(text json.RawMessage) *Raw { return &Raw{text: text} }

// UnmarshalJSON implements json.Unmarshaler.
func (r *Raw) UnmarshalJSON(text []byte) error {
	r.text = slices.Clone(text)
	return nil
}

// Text is the JSON.
func (r *Raw) Text() json.RawMessage { return r.text }

// Value is what the JSON says, with whole numbers as integers. It is nil if that is
// not JSON, and must not be changed.
func (r *Raw) Value() any {
	if !r.decoded {
		d := json.NewDecoder(bytes.NewReader(r.text))
		d.UseNumber()
		if err := d.Decode(&r.value); err != nil {
			r.value = nil
		}
		r.value, r.decoded = integers(r.value), true
		if fields := r.Fields(); r.list != "" && fields != nil && fields[r.list] == nil {
			fields[r.list] = []any{}
		}
	}
	return r.value
}

// Fields are the fields of an object. There are none if it is something else.
func (r *Raw) Fields() map[string]any {
	fields, _ := r.Value().(map[string]any)
	return fields
}

func integers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for key, value := range v {
			v[key] = integers(value)
		}
	case []any:
		for i, value := range v {
			v[i] = integers(value)
		}
	}
	return v
}
