package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/reports"
)

func TestWhereToLookAtAKeptRig(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	printKept(&out, reports.Cell{ID: "mine/web", Outcome: reports.Fail, Checks: []reports.Check{
		{ID: "held", Expected: "at once: 1 == 1", Outcome: reports.Pass},
		{ID: "ready", Expected: "within 10s: web == true", Observed: "fal\x1bse", Outcome: reports.Fail},
		{ID: "known", Expected: "at once: 1 == 2", Observed: "1", Outcome: reports.ExpectedFail},
	}}, keptRig{kubeconfig: "/rig dir/admin", seedKubeconfig: "/seed", logs: "report/cells/mine/web/logs"})
	const want = `
mine/web: new
  ready
    expected: within 10s: web == true
    observed: fal\x1bse
Its cluster stays up until Ctrl-C, as the last step left it. Its record has ended.
  export KUBECONFIG='/rig dir/admin'
  kubectl get pods -A
  kubectl get deployments -n shoot --kubeconfig /seed
Logs: report/cells/mine/web/logs

`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
