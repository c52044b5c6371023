package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestACellWithoutAComponentIsNotJudged: nothing is started for a cell that needs what
// can't be built, and the reason begins with why.
func TestACellWithoutAComponentIsNotJudged(t *testing.T) {
	t.Parallel()
	e := &Engine{Dir: t.TempDir(), Binary: func(_ context.Context, target build.Target) (build.Binary, error) {
		if target.Component == build.Kubelet {
			return build.Binary{}, &build.TargetError{Target: target, Err: errors.New("no space left on device")}
		}
		return build.Binary{Path: "/does/not/exist"}, nil
	}}
	node := record.Topology{Version: "v1.90.1", Nodes: []record.Node{{Name: "node-a", Version: "v1.89.3"}}}
	results, err := e.Run(t.Context(), []plan.Cell{{ID: "a/b/kubelet", Topology: node}, {ID: "a/b/none", Topology: record.Topology{Version: "v1.90.1"}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"building kubelet@v1.89.3: no space left on device", "starting the rig: "} {
		if r := results[i]; r.Outcome != reports.HarnessError || !strings.HasPrefix(r.Reason, want) {
			t.Errorf("%s: %s %q, want %q", r.ID, r.Outcome, r.Reason, want)
		}
	}
}
