package page

import (
	"slices"

	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/finding"
)

// told is a run with what is known of it before the page is written: the first screen
// says it, and the data behind it has it again.
type told struct {
	Run

	findings []finding.Finding
	// keps are the titles of KEPs and areas, scenarios those of scenarios, by their ids.
	keps, scenarios map[string]string
	// first are the cells that need attention, as far as the first screen lists them, the
	// most severe first.
	first []packed
}

func newTold(run Run) told {
	t := told{
		Run: run, keps: kepTitles(run.Report.Requirements), scenarios: run.titles(),
		findings: finding.All(evidence.Run{Report: run.Report, Facts: run.Facts}, run.Sentences),
	}
	order := attentionFirst(run.Report.Cells)
	n := slices.IndexFunc(order, func(i int) bool { return run.Report.Cells[i].Outcome.Expected() })
	if n < 0 {
		n = len(order)
	}
	t.first = slices.Collect(run.narrations(order[:min(n, maxAttention)]))
	return t
}

// scene is what the first screen is made of.
func (t told) scene() scene {
	causes := make(map[string]map[string]string)
	for _, p := range t.first {
		if p.Narration == nil {
			continue
		}
		of := make(map[string]string)
		for _, check := range p.Narration.Checks {
			of[check.ID] = check.Cause
		}
		causes[t.Report.Cells[p.cell].ID] = of
	}
	return scene{report: t.Report, findings: t.findings, keps: t.keps, titles: t.scenarios, causes: causes}
}
