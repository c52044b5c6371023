package show_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/sweep/trial"
)

// swept is a made-up sweep, as sweep.json has it: of its findings, one is confirmed for two kinds, one is of a component
// that panics, two are not confirmed, and one is known. Of its gates, one has no field that could be reached. Texts of
// components would do something if a format let them through.
func swept(t *testing.T) (s trial.Result) {
	t.Helper()
	text, err := os.ReadFile("testdata/swept/sweep.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTheFormatStays: a sweep that is read and written again is the same file, with all its keys.
func TestTheFormatStays(t *testing.T) {
	t.Parallel()
	text, err := json.MarshalIndent(swept(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/swept/sweep.json", string(text)+"\n")
}
