package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

func TestASavedRunOfAnotherScenarioIsNotJudged(t *testing.T) {
	t.Parallel()
	var history record.History
	for _, ran := range []record.StepStarted{{Number: 1, Name: "1", Action: "wait until then"}, {Number: 3, Name: "late", Action: "check old"}} {
		history.Append("engine", ran.Name, ran)
	}
	wait := plan.Step{Number: 1, Name: "1", Action: action.Wait{Until: "now"}}
	skipped := plan.Step{Number: 2, Name: "2", Action: action.Wait{Until: "ever"}}
	checks := plan.Step{Number: 3, Name: "late", Action: action.Checks{Checks: []action.Check{{ID: "new"}}}}
	renamed, other := checks, checks
	renamed.Name, other.Action = "later", wait.Action
	for name, test := range map[string]struct {
		steps []plan.Step
		want  string
	}{
		"other checks and other words": {[]plan.Step{wait, skipped, checks}, ""},
		"a step more at the end":       {[]plan.Step{wait, skipped, checks, {Number: 4, Name: "4", Action: wait.Action}}, ""},
		"a step less":                  {[]plan.Step{wait, skipped}, `step 3 was "check old" and does not exist any more`},
		"another name":                 {[]plan.Step{wait, skipped, renamed}, `step 3 was "check old" and is "check new" now`},
		"another action":               {[]plan.Step{wait, skipped, other}, `step 3 was "check old" and is "wait`},
	} {
		judged := reports.Cell{ID: "a/b/c", Checks: []reports.Check{{ID: "new", Outcome: reports.Fail}}}.Settled()
		got, err := sameScenario(plan.Cell{Steps: test.steps}, judged, nil, history.Events())
		if err != nil {
			t.Fatal(err)
		}
		if want := test.want == ""; want != (got.Outcome == reports.Fail) || !strings.Contains(got.Reason, test.want) {
			t.Errorf("%s: %s, %q", name, got.Outcome, got.Reason)
		}
	}
}

// TestASavedRunHasAnOutcome: who compares it with another one asks for that.
func TestASavedRunHasAnOutcome(t *testing.T) {
	t.Parallel()
	one := action.Check{ID: "one", Mode: record.Now, Observe: "1", Is: float64(1)}
	cell := plan.Cell{ID: "a/b/c", Steps: []plan.Step{{Number: 1, Name: "1", Action: action.Checks{Checks: []action.Check{one}}}}}
	dir := t.TempDir()
	if err := os.MkdirAll(CellDir(dir, cell.ID), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(CellDir(dir, cell.ID), reports.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	history := record.NewHistory(file)
	history.Append("engine", "1", record.StepStarted{Number: 1, Name: "1", Action: cell.Steps[0].Action.Describe()})
	history.Append("engine", one.ID, record.CheckOpened{Step: 1})
	history.Append("engine", one.ID, record.CheckClosed{Step: 1})
	history.Append("engine", "1", record.StepDone{Number: 1})
	history.Append("engine", "", record.CellEnded{})
	results, err := Rejudge(t.Context(), dir, 1, []plan.Cell{cell})
	if err != nil || len(results) != 1 || results[0].Outcome != reports.Pass {
		t.Errorf("%+v, %v", results, err)
	}
}

// TestASavedPlanSaysWhatRan: with the plan of the run, a step of the same words is
// another one if it does something else.
func TestASavedPlanSaysWhatRan(t *testing.T) {
	t.Parallel()
	restart := func(version release.Version) plan.Step {
		return plan.Step{Number: 1, Name: "1", Kind: "restart", Action: action.Restart{Component: "kubelet/node-a", Version: version}}
	}
	wait := func(until string) plan.Step {
		return plan.Step{Number: 2, Name: "2", Kind: "wait", Action: action.Wait{Until: until}}
	}
	ran := plan.Cell{ID: "a/b/c", Steps: []plan.Step{restart("v1.2.3"), wait("true")}}
	var history record.History
	for _, s := range ran.Steps {
		history.Append("engine", s.Name, record.StepStarted{Number: s.Number, Name: s.Name, Action: s.Action.Describe()})
	}
	dir := t.TempDir()
	if err := writePlan(dir, ran); err != nil {
		t.Fatal(err)
	}
	planned, err := record.ReadPlanBelow(dir, reports.PlanData)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		today plan.Cell
		same  bool
	}{
		"the same":        {ran, true},
		"another wait":    {plan.Cell{Steps: []plan.Step{restart("v1.2.3"), wait("false")}}, true},
		"another release": {plan.Cell{Steps: []plan.Step{restart("v1.2.4"), wait("true")}}, false},
		"another kind":    {plan.Cell{Steps: []plan.Step{restart("v1.2.3"), {Number: 2, Name: "2", Kind: "stop", Action: action.Stop{}}}}, false},
	} {
		judged := reports.Cell{ID: "a/b/c", Outcome: reports.Pass}
		got, err := sameScenario(test.today, judged, planned, history.Events())
		if err != nil || (got.Outcome == reports.Pass) != test.same {
			t.Errorf("%s: %s, %q, %v", name, got.Outcome, got.Reason, err)
		}
	}
	if planned, err := record.ReadPlanBelow(t.TempDir(), reports.PlanData); planned != nil || err != nil {
		t.Errorf("a run without one: %v, %v", planned, err)
	}
}
