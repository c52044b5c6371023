package finding

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestTheStepThatLedToAFailure is told, though others came between it and the check, with the
// first of the attempts that failed since. Without a time at which it went wrong, it is the
// last step that did something.
func TestTheStepThatLedToAFailure(t *testing.T) {
	t.Parallel()
	check := reports.Check{ID: "stays-up", Expected: `at once: pods["web"].ready == true`}
	about := reports.Names{{Variable: "pods", Text: "web", Object: "pods/default/web"}}
	const upgrade, cleanup, cause = "step 2: restart kubelet", "step 4: delete pods/default/other", "; this was the last step before it went wrong"
	for name, tc := range map[string]struct {
		bad      float64
		failedAt []float64 // attempts; the first one is good
		want     string
	}{
		"attempts":     {0, []float64{6, 7.25, 8, 8.5, 9}, " 5.125 " + upgrade + cause + " 7.250 default/web/app, liveness: seen; the first of 4 that failed until then 8.600 " + cleanup + " 9.000 default/web/app, liveness: seen"},
		"a lost field": {7, nil, " 5.125 " + upgrade + cause + " 8.600 " + cleanup},
		"the last":     {8.7, nil, " 8.600 " + cleanup + cause},
		"not known":    {0, nil, " 8.600 " + cleanup},
	} {
		n := &narrate.Narration{
			Steps: []narrate.Step{
				{Number: 1, Action: "create pods/default/web", From: 1}, {Number: 2, Action: "restart kubelet", From: 5.125},
				{Number: 3, Action: "wait for 1s", From: 8}, {Number: 4, Action: "delete pods/default/other", From: 8.6},
			},
			Checks: []narrate.Check{{ID: "stays-up", From: 9.5, To: 9.5, Bad: tc.bad, Named: about}},
		}
		for i, at := range tc.failedAt {
			tone := narrate.Bad
			if i == 0 {
				tone = narrate.Good
			}
			n.Attempts = append(n.Attempts, narrate.Attempt{At: at, Container: "default/web/app", By: "liveness", Observed: "seen", Tone: tone})
		}
		var got strings.Builder
		for _, m := range Led(n, check) {
			fmt.Fprintf(&got, " %.3f %s", m.At, m.Text)
		}
		if got.String() != tc.want {
			t.Errorf("%s: it says\n%s\nwant\n%s", name, got.String(), tc.want)
		}
	}
}
