package record_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

func TestAPlanIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	want := record.Plan{
		ID: "a/b/c", Format: record.PlanFormat, Topology: record.Topology{Version: "v1.2.3"},
		Steps: []record.Step{
			{Number: 1, Kind: "stop", Action: []byte(`{"component":"<etcd>"}`)},
			{Number: 3, Kind: "checks", Checks: []record.Check{{ID: "c", Mode: record.Now, Is: true}}},
		},
	}
	var text bytes.Buffer
	if err := want.Write(&text); err != nil {
		t.Fatal(err)
	}
	got, err := record.ReadPlan(&text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if s, found := got.Step(3); !found || s.Kind != "checks" {
		t.Errorf("step 3 is %+v, %t", s, found)
	}
	if _, found := got.Step(2); found {
		t.Error("there is a step 2")
	}
}

func TestAPlanOfAnotherFormatIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"format": 2}`, `{}`} {
		if _, err := record.ReadPlan(strings.NewReader(text)); !errors.Is(err, record.ErrFormat) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
