package ledger

import (
	"fmt"
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
		if _, known := tables.Gate(release.Effective{Version: release.Newest}, f.Gate); !known {
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

func TestMistakesInContradictions(t *testing.T) {
	t.Parallel()
	const two = "kep: KEP-1\nstatements:\n" +
		"- {id: KEP-1/a, level: core, stage: alpha, section: s, statement: It is on., %s}\n" +
		"- {id: KEP-1/b, level: core, stage: alpha, section: s, statement: It is off.%s}\n"
	for _, tc := range []struct{ first, second, want string }{
		{"contradicts: [KEP-1/c]", "", "kep-1.yaml:3:92: KEP-1/c is no other statement of this ledger"},
		{"contradicts: [KEP-1/a]", "", "KEP-1/a is no other statement"},
		{"contradicts: [KEP-1/b]", ", manual: The authors look.", "no check can prove KEP-1/b"},
		{"contradicts: [KEP-1/b]", "", ""},
	} {
		text := fmt.Sprintf(two, tc.first, tc.second)
		all, err := load(fstest.MapFS{"kep-1.yaml": {Data: []byte(text)}})
		switch {
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s%s: %v, want %q", tc.first, tc.second, err, tc.want)
		case tc.want == "" && (err != nil || len(all) != 2 || len(all[0].Contradicts) != 1):
			t.Errorf("%s: %v, %+v", tc.first, err, all)
		}
	}
}
