package engine

import (
	"encoding/json"
	"testing"

	"github.com/skewrig/skewrig/record"
)

// TestHasSeen: a write is in the record once the object is there as it was written, or later.
func TestHasSeen(t *testing.T) {
	t.Parallel()
	state := func(uid, version string) record.ObjectObserved {
		return record.ObjectObserved{Change: "modified", Resource: "pods", Object: json.RawMessage(`{"metadata":{"uid":"` + uid + `","resourceVersion":"` + version + `"}}`)}
	}
	answer := record.APIAnswer{Object: "pods/default/web", Response: map[string]any{"metadata": map[string]any{"uid": "a", "resourceVersion": "10"}}}
	wanted, is := versionOf(answer)
	if !is {
		t.Fatalf("there is no object in %v", answer)
	}
	for name, tc := range map[string]struct {
		observed []record.ObjectObserved
		want     bool
	}{
		"nothing":           {nil, false},
		"as it was before":  {[]record.ObjectObserved{state("a", "9")}, false},
		"as it was written": {[]record.ObjectObserved{state("a", "9"), state("a", "10")}, true},
		"as it was later":   {[]record.ObjectObserved{state("a", "101")}, true},
		"another one":       {[]record.ObjectObserved{state("b", "10")}, false},
	} {
		h := record.NewHistory(nil)
		for _, o := range tc.observed {
			h.Append("watch", "pods/default/web", o)
		}
		if got := hasSeen(h.Events(), wanted); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if _, is := versionOf(record.APIAnswer{Response: map[string]any{"kind": "Status"}}); is {
		t.Error("what is no object is waited for")
	}
}

// TestObserves checks that the engine waits for no state of an object that no record has.
func TestObserves(t *testing.T) {
	t.Parallel()
	topology := record.Topology{Observed: []string{"configmaps", "seed/secrets"}}
	for object, want := range map[string]bool{
		"pods/default/web": true, "nodes/node-a": true, "configmaps/default/a": true, "secrets/default/a": false,
		"seed/deployments/shoot/a": true, "seed/secrets/shoot/a": true, "seed/configmaps/shoot/a": false,
	} {
		if got := observes(topology, object); got != want {
			t.Errorf("%s: %v", object, got)
		}
	}
}
