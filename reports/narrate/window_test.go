package narrate_test

import (
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
)

// TestWindows: what came of the time that a check had, whatever its mode. That of
// the history is one second, of which the check takes all.
func TestWindows(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		outcome            reports.Outcome
		expected, observed string
		want               string
	}{
		{reports.Pass, "within 1m30s: x == 1", "1", "came true after 1.0 s; the window was 90 s"},
		{reports.UnexpectedPass, "within 1m30s: x == 1", "1", "came true after 1.0 s; the window was 90 s"},
		{reports.Fail, "within 1s: x == 1", "2", "did not come true in 1 s"},
		{reports.Fail, "within 500ms: x == 1", "2", "did not come true in 1.0 s; the scenario asks for 0.5 s, and a busy machine gets longer"},
		{reports.Pass, "within 500ms: x == 1", "1", "came true after 1.0 s; the window was 0.5 s, which is longer on a busy machine"},
		{reports.Unknown, "within 500ms: x == 1", "", "watched for 1.0 s; the window was 0.5 s, which is longer on a busy machine"},
		{reports.Pass, "always for 1s: x == 1", "1", "held for all of 1 s"},
		{reports.ExpectedFail, "always for 20s: x == 1", "2", "no longer held after 1.0 s; the window was 20 s"},
		{reports.Fail, "never for 20s: x == true", "true", "expected false, observed true at 10.0 s; no longer held after 1.0 s; the window was 20 s"},
		{reports.Fail, "for 20s: x grows by 1 at most", "2 more, from 0 to 2", "no longer held after 1.0 s; the window was 20 s"},
		{reports.Fail, "at once: x == true", "false", "expected true, observed false at 10.0 s"},
		{reports.Fail, "at once: x == 1", "2", ""},
		{reports.Fail, "at once: x satisfies it && y", "true", ""}, // it may be that y was not so
		{reports.Fail, "at once: x == 1 == true", "false", "expected true, observed false at 10.0 s"},
		{reports.Pass, "each probe begins as the model predicts", "so it was", ""},
		{reports.Unknown, "within 1m30s: x == 1", "", "watched for 1.0 s; the window was 90 s"},
	} {
		result := reports.Cell{Outcome: tc.outcome, Checks: []reports.Check{{ID: "c", Outcome: tc.outcome, Expected: tc.expected, Observed: tc.observed}}}
		want(t, tc.want, of(narrate.Input{Events: checked(), Result: result}).Checks[0].Summary)
	}
}

// TestAtOnce: what is true from the start is not said to be so after no time.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	var h history
	h.step(0, 1, "1", "check c")
	h.at(0, "c", record.CheckOpened{Step: 1})
	h.at(0, "c", record.CheckClosed{Step: 1})
	result := reports.Cell{Outcome: reports.Pass, Checks: []reports.Check{{ID: "c", Outcome: reports.Pass, Expected: "within 5s: x == 1"}}}
	want(t, "came true at once; the window was 5 s", of(narrate.Input{Events: h, Result: result}).Checks[0].Summary)
}

// TestPartsOfAValue checks that a check which observed only false and does not hold has the
// values of the parts of its expression.
func TestPartsOfAValue(t *testing.T) {
	t.Parallel()
	var h history
	h.at(0, "default/web/app", record.ContainerStarted{})
	h = append(h, checked()[1:]...)
	expected := `at once: containers["web/app"].restarts == 1 == true`
	for outcome, wanted := range map[reports.Outcome][]narrate.Line{
		reports.Fail: {{What: `containers["web/app"].restarts`, Text: "0, expected: 1"}}, reports.Pass: nil,
	} {
		result := reports.Cell{Outcome: outcome, Checks: []reports.Check{{ID: "c", Outcome: outcome, Expected: expected, Observed: "false"}}}
		want(t, wanted, of(narrate.Input{Events: h, Result: result}).Checks[0].Parts)
	}
}
