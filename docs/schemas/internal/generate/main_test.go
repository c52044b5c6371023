package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/docs/schemas"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/finding"
)

const (
	root  = "../../../.."
	saved = root + "/cmd/skewrig/testdata/saved/"
)

func TestTheSchemasAreCurrent(t *testing.T) {
	generated, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(generated) != len(schemas.Names()) {
		t.Errorf("docs/schemas has %v, and %d are made", schemas.Names(), len(generated))
	}
	for name, want := range generated {
		got, err := schemas.Get(name)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(strings.Split(string(got), "\n"), strings.Split(string(want), "\n")); diff != "" {
			t.Errorf("docs/schemas/%s.json is not what the types say; run make generate (-file +types):\n%s", name, diff)
		}
	}
}

// schema compiles one of the published schemas, which checks it against the
// schema of schemas.
func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, err := schemas.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name+".json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if compiled.DraftVersion != 2020 {
		t.Errorf("it is a schema of draft %d", compiled.DraftVersion)
	}
	return compiled
}

// check validates a text of JSON.
func validate(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

// refuses expects a schema to find something wrong once a text is changed.
func refuses(t *testing.T, s *jsonschema.Schema, good, from, to string) {
	t.Helper()
	bad := strings.Replace(good, from, to, 1)
	if bad == good {
		t.Fatalf("%s is not in the text", from)
	}
	if err := validate(t, s, []byte(bad)); err == nil {
		t.Errorf("%s instead of %s is valid", to, from)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAReportIsValid(t *testing.T) {
	t.Parallel()
	s := schema(t, "report")
	for _, name := range []string{saved + "report/report.json", root + "/reports/render/testdata/mixed.json", root + "/reports/render/testdata/hostile.json", root + "/reports/render/testdata/empty.json"} {
		if err := validate(t, s, []byte(read(t, name))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := read(t, saved+"report/report.json")
	for _, change := range [][2]string{
		{`"outcome": "fail"`, `"outcome": "failed"`},
		{`"kind": "ConformanceReport"`, `"kind": "Report"`},
		{`"cells": 1`, `"cells": "1"`},
		{`"seed"`, `"sede"`},
		{`"started": "2026-`, `"started": "26-`},
		{`"checks": [`, `"check": [`},
	} {
		refuses(t, s, good, change[0], change[1])
	}
}

func TestADiffIsValid(t *testing.T) {
	t.Parallel()
	s := schema(t, "diff")
	for _, name := range []string{"mixed", "hostile", "nothing"} {
		if err := validate(t, s, []byte(read(t, root+"/reports/render/testdata/"+name+".diff.json"))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	good, err := json.Marshal(diff.Compare(reports.Report{}, reports.Report{}, diff.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, s, good); err != nil {
		t.Errorf("an empty diff: %v", err)
	}
	refuses(t, s, string(good), `"new":[]`, `"new":null`)
	refuses(t, s, string(good), `"pace":0`, `"pace":"slow"`)
}

func TestARehearsalIsValid(t *testing.T) {
	t.Parallel()
	s := schema(t, "rehearsal")
	const samples = root + "/rehearse/show/testdata/"
	for _, name := range []string{"mixed", "quiet", "hostile", "failed", "empty"} {
		if err := validate(t, s, []byte(read(t, samples+name+".json"))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, change := range [][2]string{
		{`"what": "field lost"`, `"what": "lost"`},
		{`"stage": "back"`, `"stage": "backwards"`},
		{`"kind": "Rehearsal"`, `"kind": "Report"`},
		{`"line": 12`, `"line": "12"`},
		{`"notices": [`, `"notes": [`},
	} {
		refuses(t, s, read(t, samples+"mixed.json"), change[0], change[1])
	}
}

// TestAFindingHasWhatAReaderActsOn has a finding with everything, and one of a run.
func TestAFindingHasWhatAReaderActsOn(t *testing.T) {
	t.Parallel()
	s := schema(t, "findings")
	whole := finding.Finding{
		Finding: reports.Finding{ID: "late", Class: reports.Defect, Headline: "h", Instead: "i", Effect: "e", At: []string{"https://example.com/blob/v1.90.1/x.go#L7"}, Issue: "https://example.com/1"},
		Statement: finding.Statement{
			Requirement: "KEP-1/late", Statement: "It is sent at once.", Source: "KEP-1", Document: "kep.md", Line: 7, Sentence: "At once.",
		},
		Releases: []string{"kubelet v1.90.1"}, Gates: []string{"kubelet X on"}, Reproduce: "skewrig run a",
		Observed: []finding.Observation{{Cell: "a", Check: "late", Releases: "kubelet v1.90.1", Outcome: reports.ExpectedFail}},
	}
	text, err := json.Marshal([]finding.Finding{whole})
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, s, text); err != nil {
		t.Error(err)
	}
	for _, field := range []string{"class", "statement", "document", "line", "sentence", "releases", "gates", "at", "observed", "reproduce", "issue"} {
		refuses(t, s, string(text), `"`+field+`":`, `"not-`+field+`":`)
	}
	refuses(t, s, string(text), `"defect"`, `"bug"`)
	var r reports.Report
	if err := json.Unmarshal([]byte(read(t, root+"/reports/render/testdata/mixed.json")), &r); err != nil {
		t.Fatal(err)
	}
	all := finding.All(evidence.Run{Report: r}, nil)
	if text, err = json.Marshal(all); err != nil || len(all) == 0 {
		t.Fatalf("%d findings: %v", len(all), err)
	}
	if err := validate(t, s, text); err != nil {
		t.Errorf("the findings of a run: %v", err)
	}
}

func TestPlansAreValid(t *testing.T) {
	t.Parallel()
	s := schema(t, "plan")
	for _, name := range []string{"language", "minimal", "rollback"} {
		if err := validate(t, s, []byte(read(t, root+"/scenarios/plan/testdata/"+name+".plan.json"))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := read(t, root+"/scenarios/plan/testdata/rollback.plan.json")
	for _, change := range [][2]string{
		{`"format": 1`, `"format": 2`},
		{`"kind": "restart"`, `"sort": "restart"`},
		{`"mode": "always"`, `"mode": "sometimes"`},
		{`"span": "10s"`, `"span": 10`},
	} {
		refuses(t, s, good, change[0], change[1])
	}
}

func TestAHistoryIsValid(t *testing.T) {
	t.Parallel()
	s := schema(t, "record")
	history := read(t, saved+"report/cells/saved/sample/unhealthy/history.jsonl")
	for line := range strings.Lines(history) {
		if err := validate(t, s, []byte(line)); err != nil {
			t.Errorf("%s%v", line, err)
		}
	}
	first, _, _ := strings.Cut(history, "\n")
	for _, change := range [][2]string{
		{`"format":1`, `"format":2`},
		{`"kind":"component.started"`, `"kind":"component.begun"`},
		{`"kind":"component.started"`, `"kind":"component.stopped"`},
		{`"seq":1`, `"seq":"1"`},
		{`"pid":`, `"PID":`},
		{`"source":"cluster",`, ``},
	} {
		refuses(t, s, first, change[0], change[1])
	}
}

// TestEveryPayloadIsValid records one event of each kind, once with all that it can
// have and once with nothing that can be left out.
func TestEveryPayloadIsValid(t *testing.T) {
	t.Parallel()
	s, err := readSource(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, whole := range []bool{true, false} {
		var out bytes.Buffer
		history := record.NewHistory(&out)
		for _, p := range record.Payloads() {
			v := reflect.New(reflect.TypeOf(p)).Elem()
			s.fill(v, whole)
			history.Append("test", "", v.Interface().(record.Payload))
		}
		if err := history.Err(); err != nil {
			t.Fatal(err)
		}
		schema := schema(t, "record")
		for line := range strings.Lines(out.String()) {
			if err := validate(t, schema, []byte(line)); err != nil {
				t.Errorf("%s%v", line, err)
			}
		}
	}
}

// fill gives a value all that its type can have, or only what it must have.
func (s *source) fill(v reflect.Value, whole bool) {
	values := s.constants[v.Type().PkgPath()+"."+v.Type().Name()]
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(7, 0)))
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"a":1}`))
	case v.Kind() == reflect.String && len(values) > 0:
		v.SetString(fmt.Sprint(values[0]))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); whole || !strings.Contains(field.Tag.Get("json"), ",omit") {
				s.fill(v.Field(i), whole)
			}
		}
	case !whole:
	case v.Kind() == reflect.String:
		v.SetString("<&>")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(7)
	case v.CanUint():
		v.SetUint(7)
	case v.CanFloat():
		v.SetFloat(1.5)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		s.fill(v.Elem(), whole)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		s.fill(v.Index(0), whole)
	case v.Kind() == reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		s.fill(value, whole)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
	case v.Kind() == reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"a": 1.0}))
	}
}

// asJSON reads a text of YAML.
func asJSON(t *testing.T, text string) []byte {
	t.Helper()
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return converted
}

func TestScenariosAreValid(t *testing.T) {
	t.Parallel()
	s := schema(t, "scenario")
	n := 0
	err := filepath.WalkDir(root+"/scenarios/catalog", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".yaml" {
			return err
		}
		if text := read(t, name); strings.Contains(text, "kind: Scenario\n") {
			n++
			if err := validate(t, s, asJSON(t, text)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
	if err != nil || n < 50 {
		t.Errorf("%d scenarios: %v", n, err)
	}
	for _, name := range []string{saved + "scenario.yaml", root + "/scenarios/spec/testdata/valid-everything.yaml", root + "/scenarios/spec/testdata/valid-minimal.yaml"} {
		if err := validate(t, s, asJSON(t, read(t, name))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMistakesInScenariosAreFound(t *testing.T) {
	t.Parallel()
	s := schema(t, "scenario")
	good := read(t, saved+"scenario.yaml")
	for _, change := range [][2]string{
		{"title:", "tilte:"},
		{"kind: Scenario", "kind: Test"},
		{"controllerManager: false", "controllerManager: maybe"},
		{"port: 8443, protocol: grpc-tls", "port: 8443, protocol: gopher"},
		{"eventually: 30s", "eventually: 30"},
		{"- name: create\n", "- name: create\n  delete: pods/payments\n"},
		{"- checks:", "- check:"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Errorf("%s is not in the scenario", change[0])
		} else if err := validate(t, s, asJSON(t, bad)); err == nil {
			t.Errorf("%s instead of %s is valid", change[1], change[0])
		}
	}
}

func TestThereIsNoOtherSchema(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "reports", "../record", "internal/generate/main"} {
		if _, err := schemas.Get(name); err == nil || errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), "record") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestCatalogsAreValid(t *testing.T) {
	t.Parallel()
	s := schema(t, "config")
	good := read(t, root+"/scenarios/own/template/skewrig.yaml")
	if err := validate(t, s, asJSON(t, good)); err != nil {
		t.Error(err)
	}
	for _, change := range [][2]string{
		{"kind: Catalog", "kind: Scenario"},
		{"scenarios: [", "scenario: ["},
		{"kubelet: [previous]", "kubelet: previous"},
		{"# builtIn: true", "builtIn: yes please"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Errorf("%s is not in the file", change[0])
		} else if err := validate(t, s, asJSON(t, bad)); err == nil {
			t.Errorf("%s instead of %s is valid", change[1], change[0])
		}
	}
}
