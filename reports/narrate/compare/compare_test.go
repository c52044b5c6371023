package compare

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// story returns a run of three steps. tell has the events of each step by its number;
// 4 is the end of the rig.
func story(bad bool, tell map[int]func(*record.History)) Run {
	var h record.History
	happens := func(n int) {
		if tell[n] != nil {
			tell[n](&h)
		}
	}
	happens(0)
	for n, action := range []string{"create Pod web", "restart kubelet/node-a", "check up"} {
		name := fmt.Sprint(n + 1)
		h.Append("engine", name, record.StepStarted{Number: n + 1, Name: name, Action: action})
		happens(n + 1)
		if n == 2 {
			h.Append("engine", "up", record.CheckOpened{Step: 3})
			h.Append("engine", "up", record.CheckClosed{Step: 3})
		}
		h.Append("engine", name, record.StepDone{Number: n + 1})
	}
	happens(4)
	outcome := reports.Pass
	if bad {
		outcome = reports.Fail
	}
	return Run{Bad: bad, Events: h.Events(), Checks: []reports.Check{{ID: "up", Outcome: outcome}, {ID: "oracle:quiet", Outcome: reports.Pass}}}
}

type steps = map[int]func(*record.History)

func exits(code int32) func(*record.History) {
	return func(h *record.History) {
		h.Append("runtime/node-a", "default/web/app", record.ContainerExited{ExitCode: code, Reason: "Error"})
	}
}

func starts(attempt uint32) func(*record.History) {
	return func(h *record.History) {
		h.Append("runtime/node-a", "default/web/app", record.ContainerStarted{Attempt: attempt})
	}
}

func asked(first record.First) func(*record.History) {
	return func(h *record.History) {
		h.Append("server", "default/web/app", record.Connection{Port: 8080, First: first})
	}
}

// pod is a pod with a generated name that becomes ready, or not.
func pod(name, ready string) func(*record.History) {
	return func(h *record.History) {
		object, _ := json.Marshal(map[string]any{
			"metadata": map[string]any{"generateName": "web-"},
			"status":   map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": ready, "reason": "Because"}}},
		})
		h.Append("watch", "", record.ObjectObserved{Change: "modified", Resource: "pods", Namespace: "default", Name: name, Object: object})
	}
}

func all(tell ...func(*record.History)) func(*record.History) {
	return func(h *record.History) {
		for _, t := range tell {
			t(h)
		}
	}
}

func several(n int, bad bool, tell steps) (runs []Run) {
	for range n {
		runs = append(runs, story(bad, tell))
	}
	return runs
}

func TestFind(t *testing.T) {
	t.Parallel()
	checkAlone := "good and bad runs first differ at step 3 (check up): only in bad runs, check up: fail; only in good runs, check up: pass"
	for name, tc := range map[string]struct {
		good, bad []Run
		want      string
	}{
		"the check alone": {several(2, false, nil), several(1, true, nil), checkAlone},
		"an exit before it": {several(1, false, nil), several(1, true, steps{2: exits(137)}),
			"good and bad runs first differ at step 2 (restart kubelet/node-a): only in bad runs, container default/web/app exited with 137 (Error)"},
		"an exit in good runs too":       {several(1, false, steps{1: exits(137)}), several(1, true, steps{2: exits(137)}), checkAlone},
		"an exit in one of the bad runs": {several(1, false, nil), append(several(1, true, nil), several(1, true, steps{2: exits(137)})...), checkAlone},
		"another exit": {several(1, false, steps{2: exits(0)}), several(1, true, steps{2: exits(137)}),
			"good and bad runs first differ at step 2 (restart kubelet/node-a): only in bad runs, container default/web/app exited with 137 (Error); only in good runs, container default/web/app exited with 0 (Error)"},
		"before the first step": {several(1, false, nil), several(1, true, steps{0: exits(1)}),
			"good and bad runs first differ before the first step: only in bad runs, container default/web/app exited with 1 (Error)"},
		"the end of the rig":              {several(1, false, nil), several(1, true, steps{4: exits(137)}), checkAlone},
		"what may be chance, in few runs": {several(1, false, nil), several(1, true, steps{2: asked("http1-request")}), checkAlone},
		"what may be chance, in many runs": {several(3, false, nil), several(3, true, steps{2: asked("http1-request")}),
			"good and bad runs first differ at step 2 (restart kubelet/node-a): only in bad runs, a client of container default/web/app, port 8080, began with http1-request and had no answer"},
		"names that are generated": {several(3, false, steps{1: pod("web-abc", "True")}), several(3, true, steps{1: pod("web-xyz", "True")}), checkAlone},
		"what it was for the second time": {several(3, false, steps{1: pod("web-abc", "True")}),
			several(3, true, steps{1: pod("web-xyz", "True"), 2: all(pod("web-xyz", "False"), pod("web-xyz", "True"))}),
			"good and bad runs first differ at step 2 (restart kubelet/node-a): only in bad runs, pods/default/web-*: Ready became False (Because)"},
		"only good runs": {several(3, false, nil), nil, ""},
		"only bad runs":  {nil, several(3, true, nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got string
			if d := Find(append(tc.good, tc.bad...)); d != (reports.Difference{}) {
				got = d.String()
			}
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestARunThatIsTheSameDoesNotPart: no difference is made up.
func TestARunThatIsTheSameDoesNotPart(t *testing.T) {
	t.Parallel()
	run := story(false, steps{1: exits(1)})
	twin := run
	twin.Bad = true
	if d := Find([]Run{run, twin}); d != (reports.Difference{}) {
		t.Errorf("%s", d)
	}
}

func TestWays(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ n, k, want int }{{2, 1, 2}, {3, 1, 3}, {4, 2, 6}, {6, 2, 15}, {6, 3, 20}, {19, 1, 19}, {100, 50, 20}} {
		if got := ways(tc.n, tc.k); got != tc.want {
			t.Errorf("%d of %d: %d, want %d", tc.k, tc.n, got, tc.want)
		}
	}
}
