package engine

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// sameScenario makes the result of a saved run unknown if its scenario takes other
// steps today: what was recorded then is no evidence for or against it. Without
// the plan of the run, the steps that it began are all that is known of it.
func sameScenario(cell plan.Cell, result reports.Cell, planned *record.Plan, events []record.Event) (reports.Cell, error) {
	stored, err := plan.Stored(cell)
	if err != nil {
		return result, err
	}
	for _, ran := range record.All[record.StepStarted](events) {
		today, found := stored.Step(ran.Number)
		if found && sameStep(today, ran, planned) {
			continue
		}
		now := "does not exist any more"
		if found {
			now = fmt.Sprintf("is %q now", today.Description)
		}
		return result.Overruled(reports.Unknown, fmt.Sprintf(
			"the scenario has changed since the run: step %d was %q and %s; run the cell again", ran.Number, ran.Action, now)), nil
	}
	return result, nil
}

// sameStep reports whether a step of today is the one that ran.
func sameStep(today record.Step, ran record.StepStarted, planned *record.Plan) bool {
	if planned == nil {
		return today.Name == ran.Name && verb(today.Description) == verb(ran.Action)
	}
	was, found := planned.Step(ran.Number)
	return found && today.Same(was)
}

// verb is the first word of an action. The rest may be worded otherwise in another
// release of skewrig, and which checks a step has doesn't matter: to judge by
// today's is what a run is judged again for.
func verb(action string) string {
	first, _, _ := strings.Cut(action, " ")
	return first
}
