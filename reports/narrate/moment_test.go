package narrate_test

import (
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestTimesThatWouldReadTheSame are shown with milliseconds, and no others.
func TestTimesThatWouldReadTheSame(t *testing.T) {
	t.Parallel()
	for began, wanted := range map[float64]string{
		8.97: "nodes.size() was 0 at 10.0 s; expected: 1, for 9 s from 9.000 s. The last that the scenario did before was step 1 (patch nodes/a), at 8.970 s.",
		8.5:  "nodes.size() was 0 at 10.0 s; expected: 1, for 9 s from 9.0 s. The last that the scenario did before was step 1 (patch nodes/a), at 8.5 s.",
	} {
		h := append(history{}, checked()[:1]...)
		h.step(began, 1, "1", "patch nodes/a")
		result := outcome(reports.Fail)
		result.Checks[0].Expected, result.Checks[0].Observed = `always for 9s: nodes.size() == 1`, "0"
		c := of(narrate.Input{Events: append(h, checked()[1:]...), Result: result}).Checks[0]
		want(t, wanted, strings.Join(append([]string{c.Cause}, c.Because...), " "))
	}
}

// TestShortTimes: how long after a step something was, where one decimal would say nothing.
func TestShortTimes(t *testing.T) {
	t.Parallel()
	h := append(history{}, checked()[:1]...)
	h.step(8, 1, "1", "patch nodes/a")
	for at, ready := range []string{"True", "False"} {
		h.show(8.02+0.02*float64(at), "nodes/a", "modified", `{"metadata":{"name":"a"},"status":{"conditions":[{"type":"Ready","status":"`+ready+`"}]}}`)
	}
	h.start(1, "kubelet/a", "v1.90.1", nil)
	result := outcome(reports.Fail)
	result.Checks[0].Expected, result.Checks[0].Observed = `at once: objects["nodes/a"].status.x + nodes["a"].ready == 1`, "0"
	c := of(narrate.Input{Events: append(h, checked()[1:]...), Result: result}).Checks[0]
	if said := strings.Join(append([]string{c.Cause}, c.Because...), " "); !strings.Contains(said, "from 8.040 s, 0.040 s after step 1 (patch nodes/a)") {
		t.Errorf("the cause is %q", said)
	}
}
