package engine

import (
	"strings"
	"testing"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
)

func TestASavedRunOfAnotherScenarioIsNotJudged(t *testing.T) {
	t.Parallel()
	var history record.History
	for _, ran := range []record.StepStarted{{Number: 1, Name: "1", Action: "wait until then"}, {Number: 3, Name: "late", Action: "check old"}} {
		history.Append("engine", ran.Name, ran)
	}
	wait := plan.Step{Number: 1, Name: "1", Action: plan.Wait{Until: "now"}}
	skipped := plan.Step{Number: 2, Name: "2", Action: plan.Wait{Until: "ever"}}
	checks := plan.Step{Number: 3, Name: "late", Action: plan.Checks{Checks: []plan.Check{{ID: "new"}}}}
	renamed, other := checks, checks
	renamed.Name, other.Action = "later", wait.Action
	for name, test := range map[string]struct {
		steps []plan.Step
		want  string
	}{
		"other checks and other words": {[]plan.Step{wait, skipped, checks}, ""},
		"a step more at the end":       {[]plan.Step{wait, skipped, checks, {Number: 4, Name: "4", Action: wait.Action}}, ""},
		"a step less":                  {[]plan.Step{wait, skipped}, `step 3 was "check old" and is no more`},
		"another name":                 {[]plan.Step{wait, skipped, renamed}, `step 3 was "check old" and is "check new" now`},
		"another action":               {[]plan.Step{wait, skipped, other}, `step 3 was "check old" and is "wait`},
	} {
		judged := reports.Cell{ID: "a/b/c", Checks: []reports.Check{{ID: "new", Outcome: reports.Fail}}}.Settled()
		got := sameScenario(plan.Cell{Steps: test.steps}, judged, history.Events())
		if want := test.want == ""; want != (got.Outcome == reports.Fail) || !strings.Contains(got.Reason, test.want) {
			t.Errorf("%s: %s, %q", name, got.Outcome, got.Reason)
		}
	}
}
