package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/sweep/gated"
)

// TestUnknownGates: all of them are named, with what may have been meant.
func TestUnknownGates(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := skewrig(t, "gates", "newest", "WatchLst", "AllAlpha", "Unheard")
	want := "skewrig: " + string(release.Newest) + " has no feature gate WatchLst: did you mean WatchList?\n" + string(release.Newest) + " has no feature gate Unheard\n"
	if code != exitUsage || stdout != "" || stderr != want {
		t.Errorf("exit code %d, printed %q, said\n%s", code, stdout, stderr)
	}
}

// TestNothingToSweep: gates that can't be set, and kinds without a gated field, before
// anything starts.
func TestNothingToSweep(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := skewrig(t, "sweep", "--gates", "HostnameOverride,GRPCContainerProbeTSL", "--kinds", "Deploymnt,Pod")
	want := strings.ReplaceAll(`skewrig: NEWEST has no gate that can be set, called HostnameOverride
NEWEST has no gate that can be set, called GRPCContainerProbeTSL: did you mean GRPCContainerProbeTLS?
NEWEST has no kind with a gated field, called Deploymnt: did you mean Deployment?
`, "NEWEST", string(release.Newest))
	if code != exitUsage || stdout != "" || stderr != want {
		t.Errorf("exit code %d, printed %q, said\n%s", code, stdout, stderr)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
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
