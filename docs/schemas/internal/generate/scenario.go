package main

import (
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// ofScenario is the schema of a scenario file, for editors. skewrig plan finds
// more: what contradicts itself, and what a release does not have.
func ofScenario(source *source) *jsonschema.Schema {
	schema := ofKind(source, spec.Scenario{}, spec.Kind, "A scenario of skewrig")
	step := schema.Definitions["spec.Step"]
	for _, kind := range action.Kinds() {
		step.Properties.Set(kind.Name, source.define(schema.Definitions, kind.Type))
	}
	// Where there may be a list of API objects, or of API servers, there may be one.
	for _, name := range []string{"action.Inline", "spec.Via"} {
		list := *schema.Definitions[name]
		*schema.Definitions[name] = jsonschema.Schema{
			Description: list.Description,
			AnyOf:       []*jsonschema.Schema{list.Items, {Type: "array", Items: list.Items}},
		}
	}
	// Where there may be an object that says how, there may be true, or the value of the one field that matters.
	short := map[string]*jsonschema.Schema{
		"spec.Rejected": {Const: true}, "action.Settle": {Const: true}, "action.Stop": {Type: "string"}, "action.Delete": {Type: "string"},
	}
	for name, alone := range short {
		how := *schema.Definitions[name]
		*schema.Definitions[name] = jsonschema.Schema{
			Description: how.Description,
			AnyOf:       []*jsonschema.Schema{alone, {Type: how.Type, Properties: how.Properties, Required: how.Required, AdditionalProperties: how.AdditionalProperties}},
		}
	}
	each(schema, orReference)

	step.OneOf = nil
	for _, kind := range action.Kinds() {
		step.OneOf = append(step.OneOf, &jsonschema.Schema{Required: []string{kind.Name}})
	}
	ref := &jsonschema.Schema{Ref: "#/$defs/spec.Step"}
	steps, _ := schema.Properties.Get("steps")
	steps.Items = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{ref, use()}}
	schema.Properties.Set("sequences", &jsonschema.Schema{
		Type: "object", Description: "Steps that are used several times, by the name of the sequence.",
		AdditionalProperties: &jsonschema.Schema{Type: "array", Items: ref},
	})
	return schema
}

// use is a step that uses a sequence.
func use() *jsonschema.Schema {
	step := jsonschema.NewProperties()
	step.Set("use", &jsonschema.Schema{Type: "string", Description: "The name of a sequence, whose steps are taken here."})
	step.Set("with", &jsonschema.Schema{
		Type: "object", Description: "What ${name} in the sequence stands for, by name.",
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "object"}, {Type: "array"}}}},
	})
	return &jsonschema.Schema{
		Type: "object", Properties: step, Required: []string{"use"}, AdditionalProperties: jsonschema.FalseSchema,
	}
}

// orReference allows a reference to an axis, ${name}, where a type has no place for
// text.
func orReference(s *jsonschema.Schema) {
	switch {
	case slices.Contains([]string{"integer", "number", "boolean"}, s.Type):
		s.AnyOf = []*jsonschema.Schema{{Type: s.Type}, reference()}
		s.Type = ""
	case len(s.Enum) > 0:
		s.AnyOf = []*jsonschema.Schema{{Type: s.Type, Enum: s.Enum}, reference()}
		s.Type, s.Enum = "", nil
	}
}

func reference() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: `\$\{[^}]+\}`}
}
