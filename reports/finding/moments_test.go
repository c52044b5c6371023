package finding

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestTheStepThatLedToAFailure checks that a finding names the step that led to the failure, though
// other steps came between it and the check, and the first attempt that failed after it. If the
// time of the failure is not known, the step is the last one that did something.
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
				{Number: 1, Action: "create pods/default/web", Acts: true, From: 1}, {Number: 2, Action: "restart kubelet", Acts: true, From: 5.125},
				{Number: 3, Action: "wait for 1s", From: 8}, {Number: 4, Action: "delete pods/default/other", Acts: true, From: 8.6},
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

// TestTheStepsThatAreKnownToHaveLedToAFailure take the place of the last one, with what was
// counted; those that wrote the object later come with the next message about it.
func TestTheStepsThatAreKnownToHaveLedToAFailure(t *testing.T) {
	t.Parallel()
	check := reports.Check{ID: "ready", Expected: `within 5s: watches["w"].pods["web"].ready == true`}
	n := &narrate.Narration{
		Steps: []narrate.Step{{Number: 2, Action: "restart kubelet", Acts: true, From: 2}, {Number: 4, Action: "delete pods/default/other", Acts: true, From: 4}},
		Lanes: []narrate.Lane{{Name: "node-a/w", Kind: narrate.Agent, Marks: []narrate.Mark{{At: 3, Label: "ADDED default/web"}, {At: 12, Label: "MODIFIED default/web"}}}},
		Checks: []narrate.Check{{
			ID: "ready", From: 5, To: 10, Named: reports.Names{{Variable: "watches", Text: "w"}, {Variable: "pods", Text: "web", Object: "pods/default/web"}},
			Led: []narrate.Line{{At: 2, Text: "step 2: restart kubelet"}}, Seen: []narrate.Line{{At: 6, Text: "sets: 2"}},
			After: []narrate.Line{{At: 11, Text: "step 6: patch"}, {At: 13, Text: "step 7: delete"}},
		}},
	}
	var got []string
	for _, m := range Led(n, check) {
		got = append(got, fmt.Sprintf("%.0f %s", m.At, m.Text))
	}
	want := "2 step 2: restart kubelet; 3 node-a/w: ADDED default/web; 6 sets: 2; 11 step 6: patch, after the check was decided; " +
		"12 node-a/w: MODIFIED default/web, after the check was decided: the first message in 9.000 s"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("it says\n%s\nwant\n%s", text, want)
	}
}

// TestProbesOfOtherContainersAreLeftOut, also where many events are one span; and the attempts
// are counted as they were, not as few as the narration has.
func TestProbesOfOtherContainersAreLeftOut(t *testing.T) {
	t.Parallel()
	check := reports.Check{ID: "ready", Expected: `within 5s: pods["web"].status.containerStatuses.filter(c, c.name == "app").map(c, c.ready) == [true]`}
	n := &narrate.Narration{
		Lanes: []narrate.Lane{{Name: "pods/default/web", Kind: narrate.ObjectState, Spans: []narrate.Span{
			{From: 2, Label: "not Ready"}, {From: 3, To: 8, Label: "15 times: ProbeWarning"}, {From: 3, To: 8, Label: "5 times: Unhealthy"},
		}}},
		Attempts: []narrate.Attempt{{At: 4, Container: "default/web/app", By: "readiness", Observed: "refused", Tone: narrate.Bad}, {At: 9, Container: "default/web/app", By: "readiness", Observed: "refused", Tone: narrate.Bad}},
		Checks: []narrate.Check{{
			ID: "ready", From: 1, To: 10, Named: reports.Names{{Variable: "pods", Text: "web", Object: "pods/default/web"}, {Variable: "containers", Text: "app", Container: "app"}},
			Tally: narrate.Tally{First: 4, Failed: 12, All: 12, FailedByEnd: 18, AllByEnd: 18},
		}},
	}
	var got []string
	for _, m := range Led(n, check) {
		got = append(got, fmt.Sprintf("%.0f %s", m.At, m.Text))
	}
	want := "2 pods/default/web: not Ready; 4 default/web/app, readiness: refused; the first of 12 that failed until then, 18 by the end; 9 default/web/app, readiness: refused"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("it says\n%s\nwant\n%s", text, want)
	}
}
