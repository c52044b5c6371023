package show_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/skewrig/skewrig/sweep/trial"
)

// swept is a made-up sweep, as sweep.json has it: of its findings, one is confirmed for two kinds, one is of a component
// that panics, two are not confirmed, and one is known. Of its gates, one has no field that could be reached. Texts of
// components would do something if a format let them through.
func swept(t *testing.T) (s trial.Swept) {
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
