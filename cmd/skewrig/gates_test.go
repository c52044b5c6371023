package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/sweep/gated"
)

// TestUnknownGates: all of them are named, with what may have been meant.
func TestUnknownGates(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := skewrig(t, "gates", "newest", "WatchLst", "AllAlpha", "Unheard")
	want := "skewrig: v1.37.1 has no feature gate WatchLst: did you mean WatchList?\nv1.37.1 has no feature gate Unheard\n"
	if code != exitUsage || stdout != "" || stderr != want {
		t.Errorf("exit code %d, printed %q, said\n%s", code, stdout, stderr)
	}
}

// TestGatesAsJSON: it has each path at which objects can have a field.
func TestGatesAsJSON(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := skewrig(t, "gates", "newest", "GRPCContainerProbeTLS", "-o", "json")
	var r gated.Release
	if err := json.NewDecoder(strings.NewReader(stdout)).Decode(&r); err != nil || code != 0 || len(r.Gates) != 1 {
		t.Fatalf("exit code %d, %v, said\n%s", code, err, stderr)
	}
	kinds := make(map[string]int)
	for _, p := range r.Gates[0].Fields[0].Places {
		kinds[p.Kind]++
	}
	// Three lists of containers, with three probes each.
	if len(kinds) != 9 || kinds["Pod"] != 9 || kinds["CronJob"] != 9 {
		t.Errorf("places by kind: %v", kinds)
	}
}
