package picture

import (
	"strconv"

	"github.com/skewrig/skewrig/harness/record"
	"github.com/skewrig/skewrig/reports/plot"
	"github.com/skewrig/skewrig/scenarios/check"
)

// taken are the steps that were taken.
func (h history) taken() (steps []plot.Step) {
	for e, started := range record.All[check.StepStarted](h.events) {
		number := strconv.Itoa(started.Number)
		text := started.Action
		if started.Name != number {
			text = started.Name + ": " + text
		}
		steps = append(steps, plot.Step{At: h.at(e), Name: number, Text: text})
	}
	return steps
}
