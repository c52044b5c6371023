// Command generate writes the JSON Schemas into docs/schemas, where go generate
// runs it.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/scenarios/own"
)

func main() {
	if err := run(".", "../.."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes the schemas into dir. The module is at root.
func run(dir, root string) error {
	schemas, err := generate(root)
	if err != nil {
		return err
	}
	for name, text := range schemas {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the texts of the schemas by name. The module's source, from
// which comments and constants are, is at root.
func generate(root string) (map[string][]byte, error) {
	source, err := readSource(root)
	if err != nil {
		return nil, err
	}
	history, err := ofRecord(source)
	if err != nil {
		return nil, err
	}
	texts := make(map[string][]byte)
	for name, schema := range map[string]*jsonschema.Schema{
		"rehearsal": ofKind(source, rehearse.Report{}, rehearse.Kind, "rehearsal.json, the result of skewrig rehearse"),
		"report":    ofKind(source, reports.Report{}, reports.Kind, "report.json, the result of a run of skewrig"),
		"diff":      ofKind(source, diff.Diff{}, diff.Kind, "What skewrig report diff prints as JSON"),
		"findings":  ofFindings(source),
		"plan":      ofPlan(source),
		"record":    history,
		"scenario":  ofScenario(source),
		"config":    ofKind(source, own.Config{}, own.Kind, "skewrig.yaml, the catalog of a repository"),
		"provider":  ofKind(source, app.ProviderConfig{}, app.ProviderConfigKind, "A file of skewrig run --provider-config"),
	} {
		schema.ID = jsonschema.ID("https://skewrig.dev/schemas/" + name + ".json")
		if texts[name], err = encode(schema); err != nil {
			return nil, fmt.Errorf("encoding the schema of %s: %w", name, err)
		}
	}
	return texts, nil
}

// ofFindings is the schema of what a run found.
func ofFindings(source *source) *jsonschema.Schema {
	definitions := make(jsonschema.Definitions)
	return &jsonschema.Schema{
		Version: jsonschema.Version, Title: "What skewrig report findings -o json prints, by weight", Type: "array",
		Items: source.define(definitions, reflect.TypeFor[finding.Finding]()), Definitions: definitions,
	}
}

// ofPlan is the schema of a stored plan.
func ofPlan(source *source) *jsonschema.Schema {
	schema := source.reflect(record.Plan{})
	schema.Title = "plan.json, what a cell of a run of skewrig was to do"
	format, _ := schema.Properties.Get("format")
	format.Const = record.PlanFormat
	each(schema, allowNull)
	return schema
}

func encode(schema *jsonschema.Schema) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(schema)
	return text.Bytes(), err
}

// ofKind is the schema of a type whose values say what they are. All kinds have one API
// version.
func ofKind(source *source, v any, kind, title string) *jsonschema.Schema {
	schema := source.reflect(v)
	schema.Title = title
	for name, value := range map[string]string{"apiVersion": reports.APIVersion, "kind": kind} {
		p, _ := schema.Properties.Get(name)
		p.Const = value
	}
	return schema
}
