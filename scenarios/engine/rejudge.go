package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// sameScenario makes the result of a saved run unknown if its scenario takes other
// steps today: what was recorded then is no evidence for or against it.
func sameScenario(cell plan.Cell, result reports.Cell, events []record.Event) reports.Cell {
	for _, ran := range record.All[record.StepStarted](events) {
		i := slices.IndexFunc(cell.Steps, func(s plan.Step) bool { return s.Number == ran.Number })
		if i >= 0 && cell.Steps[i].Name == ran.Name && verb(cell.Steps[i].Action.Describe()) == verb(ran.Action) {
			continue
		}
		today := "is no more"
		if i >= 0 {
			today = fmt.Sprintf("is %q now", cell.Steps[i].Action.Describe())
		}
		return result.Overruled(reports.Unknown, fmt.Sprintf(
			"the scenario has changed since the run: step %d was %q and %s; run the cell again", ran.Number, ran.Action, today))
	}
	return result
}

// verb is the first word of an action. The rest may be worded otherwise in another
// release of skewrig, and which checks a step has doesn't matter: to judge by
// today's is what a run is judged again for.
func verb(action string) string {
	first, _, _ := strings.Cut(action, " ")
	return first
}
