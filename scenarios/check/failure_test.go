package check

import (
	"fmt"
	"testing"

	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// TestAFailedEvaluationSaysWhere: an expression that can't be evaluated is named with its
// place, and with the value at fault.
func TestAFailedEvaluationSaysWhere(t *testing.T) {
	t.Parallel()
	now := map[string]any{"objects": map[string]any{"e": map[string]any{"endpoints": nil, "n": int64(1)}}}
	for text, want := range map[string]string{
		`objects["e"].endpoints.size() > 0`:                           `objects["e"].endpoints is null at 0`,
		`true && objects["e"].endpoints.size() > 0`:                   `objects["e"].endpoints is null at 8`,
		`objects.exists(k, k == "e" && objects[k].n.startsWith("1"))`: `objects[k].n is 1 at 30`,
		`objects["e"].missing.size() == 0`:                            `of objects["e"] at 0`,
	} {
		_, _, err := compile(text)
		if err != nil {
			t.Fatal(err)
		}
		got, found := failedIn(text, nil, now)
		if at := fmt.Sprintf("%s at %d", got.about, got.offset); !found || at != want {
			t.Errorf("%s: %s, want %s", text, at, want)
		}
	}
}

// TestAWaitThatCannotBeEvaluatedSaysWhy: with file, line, column, key and what to do.
func TestAWaitThatCannotBeEvaluatedSaysWhy(t *testing.T) {
	t.Parallel()
	const until = `objects["endpointslices/default/web"].endpoints.size() > 0`
	text := "steps:\n- wait:\n    until: '" + until + "'\n"
	p, err := Compile(plan.Cell{ID: "a/b/c", File: "c.yaml", Text: text, Steps: []plan.Step{{Number: 1, Name: "1", Line: 2, Action: action.Wait{Until: until}}}})
	if err != nil {
		t.Fatal(err)
	}
	now := vars(NewTracker().timeline)
	now["objects"] = map[string]any{"endpointslices/default/web": map[string]any{"endpoints": nil}}
	_, evalErr := newBudget(maxCost).eval(t.Context(), "wait", p.waits[1], now)
	if evalErr == nil {
		t.Fatal("it was evaluated")
	}
	step := p.cell.Steps[0]
	got := written{p.cell, step.Line, "until", "wait until", until}.failed(evalErr, nil, now).Error()
	want := `c.yaml:3:13: wait until: no such overload: size: objects["endpointslices/default/web"].endpoints is null; null is not absent: ask for has(x.y) && x.y != null first`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
