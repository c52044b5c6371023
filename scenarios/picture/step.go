package picture

import (
	"strconv"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports/plot"
)

// taken are the steps that were taken.
func (h history) taken() (steps []plot.Step) {
	for e, started := range record.All[record.StepStarted](h.events) {
		number := strconv.Itoa(started.Number)
		text := started.Action
		if started.Name != number {
			text = started.Name + ": " + text
		}
		steps = append(steps, plot.Step{At: h.at(e), Name: number, Text: text})
	}
	return steps
}
