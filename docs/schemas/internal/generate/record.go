package main

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/skewrig/skewrig/record"
)

// ofRecord is the schema of a line of a history: what data holds follows from kind.
func ofRecord(source *source) (*jsonschema.Schema, error) {
	line := source.reflect(record.Line{})
	line.Title = "A line of history.jsonl, the record of a cell of skewrig"
	line.Description = "An event, in JSON on a line of its own. See docs/architecture.md."
	line.Definitions = make(jsonschema.Definitions)
	format, _ := line.Properties.Get("format")
	format.Minimum, format.Maximum = "0", "1"
	if record.Format != 1 {
		return nil, fmt.Errorf("the schema is that of format 1, and the format is %d", record.Format)
	}
	kind, _ := line.Properties.Get("kind")
	for _, payload := range record.Payloads() {
		data := source.define(line.Definitions, reflect.TypeOf(payload))
		kind.Enum = append(kind.Enum, payload.EventKind())
		line.AllOf = append(line.AllOf, &jsonschema.Schema{
			If:   property("kind", &jsonschema.Schema{Const: payload.EventKind()}),
			Then: property("data", data),
		})
	}
	each(line, allowNull)
	return line, nil
}

func property(name string, schema *jsonschema.Schema) *jsonschema.Schema {
	properties := jsonschema.NewProperties()
	properties.Set(name, schema)
	return &jsonschema.Schema{Properties: properties}
}

// allowNull allows null where Go writes it: for a list or a map that is not there
// and is not left out.
func allowNull(s *jsonschema.Schema) {
	if s.Properties == nil {
		return
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		isMap := p.Value.Type == "object" && p.Value.Properties == nil
		if (p.Value.Type == "array" || isMap) && slices.Contains(s.Required, p.Key) {
			present := *p.Value
			present.Description = ""
			p.Value = &jsonschema.Schema{
				Description: p.Value.Description,
				AnyOf:       []*jsonschema.Schema{&present, {Type: "null"}},
			}
		}
	}
}
