package finding

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestWhatARecordHasOfAFinding: the cause, what led to it, the checks that passed beside it, the
// configuration, what was not real, and which releases the texts name that did not run.
func TestWhatARecordHasOfAFinding(t *testing.T) {
	t.Parallel()
	failed := reports.Check{ID: "ready", Requirement: "K/a", Outcome: reports.ExpectedFail, Finding: "f", Expected: `within 5s: pods["web"].ready == true`}
	cell := reports.Cell{ID: "a/b/c/kubelet:v1.37.1", Scenario: "a/b/c", Axes: map[string]string{"kubelet": "v1.37.1"}, Checks: []reports.Check{
		{ID: "unrelated", Requirement: "K/b", Outcome: reports.Pass, Expected: "at once: nodes.size() == 1"},
		{ID: "oracle:any", Outcome: reports.Pass}, failed,
		{ID: "twin", Requirement: "K/a", Outcome: reports.Pass, Expected: `within 5s: pods["other"].ready == true`, Observed: "true"},
	}}
	n := &narrate.Narration{
		Rig: []string{"kubelet/node-a v1.37.1", "100 simulated nodes: leases of 40s"}, SimulatedNodes: 100, Lanes: []narrate.Lane{{Name: "kubelet/node-a", Kind: narrate.Component}},
		Checks: []narrate.Check{{
			ID: "ready", To: 9, Cause: "It was not.", Because: []string{"2 of 2 attempts failed."}, Led: []narrate.Line{{At: 2, Text: "step 1: create"}},
			Probes: []narrate.Line{{What: "pods/default/web, container app, readinessProbe", Text: "{}"}},
		}},
	}
	all := []Finding{{
		ShownIn:  cell.ID,
		Finding:  reports.Finding{ID: "f", Class: reports.Defect, Instead: "it is so over HTTP/1.1 since v1.32, and on 1.37.1", Since: "v1.36.0"},
		Releases: []string{"kubelet v1.37.1"}, Observed: []Observation{{Cell: cell.ID, Releases: "kubelet v1.37.1"}, {Cell: "a/b/c/kubelet:v1.37.0"}},
	}}
	InWords(all, reports.Report{Cells: []reports.Cell{cell}}, func(reports.Cell) *narrate.Narration { return n })
	want := Shown{
		Cell: cell.ID, Check: "ready", Cause: "It was not.", Because: []string{"2 of 2 attempts failed."}, Led: []Moment{{2, "step 1: create"}},
		Controls: []reports.Check{cell.Checks[3]}, More: 1, Config: append(n.Rig, "pods/default/web, container app, readinessProbe: {}"),
		Fake:   "100 nodes were simulated: no kubelet ran for them, only their leases were renewed. The kubelets had a fake container runtime: containers were programs of skewrig, and no image ran.",
		NotRun: []string{"v1.32", "v1.36"}, Cells: 2, Values: []string{"kubelet v1.37.1"},
	}
	if diff := cmp.Diff(want, all[0].Shown); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	const scope = "This is one of 2 cells of this run, with kubelet v1.37.1. What the text above says of other releases, gates or settings was not seen in it; not run here: Kubernetes v1.32, v1.36."
	if got := all[0].Shown.Scope(); got != scope {
		t.Errorf("it says %q", got)
	}
}
