package ledger

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skewrig/skewrig/harness/release"
)

// TestFields: each field of the ledgers has a gate that a release has.
func TestFields(t *testing.T) {
	t.Parallel()
	all, err := Fields()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d fields: %v", len(all), err)
	}
	tables, err := release.KnownTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if _, known := tables.Gate(release.Newest, f.Gate); !known {
			t.Errorf("the newest release has no gate %s of the field %s", f.Gate, f.Name())
		}
	}
}

func TestMistakesInFields(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"- gate: A":                                        "exactly one of probe and path",
		"- {path: hostUsers}":                              "kep-1.yaml:3:3: the field gate is missing",
		"- {path: 'a[]', gate: A}":                         "not a list of something",
		"- {path: a, gate: A, stage: beta}":                "unknown field",
		"- {path: a, gate: A, wire: {value: b, first: c}}": "only a field of a probe",
		"- {probe: grpc.a, gate: A, wire: {}}":             "the field value is missing",
	} {
		_, err := fields(fstest.MapFS{"kep-1.yaml": {Data: []byte("kep: KEP-1\nfields:\n" + text + "\n")}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestAStatementSaysSomething(t *testing.T) {
	t.Parallel()
	const text = "kep: KEP-1\nstatements:\n- {id: KEP-1/a, level: core, stage: alpha, section: '', statement: A sentence.}\n"
	_, err := load(fstest.MapFS{"kep-1.yaml": {Data: []byte(text)}})
	if err == nil || !strings.Contains(err.Error(), "kep-1.yaml:3:53: section is empty") {
		t.Errorf("a statement without a section: %v", err)
	}
}
