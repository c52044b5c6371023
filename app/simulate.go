package app

import (
	"context"
	"fmt"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
	"github.com/skewrig/skewrig/scenarios/simulate"
)

// Simulated is a cell as the models played it, beside what a run saw of it.
type Simulated struct {
	// Model is always true: this is no evidence of what any release does.
	Model bool `json:"model"`
	reports.Cell
	// Against is what a run made of each check that came out otherwise, by the
	// check's id. Empty without a run.
	Against map[string]reports.Outcome `json:"against,omitempty"`
}

// Simulate plays the cells that arguments name by the models. If as is set, a
// watchdog behaves as that release, or as its text says. If against is set, it is
// a report directory to compare with.
func Simulate(ctx context.Context, args []string, as, against string) ([]Simulated, error) {
	if _, err := release.Parse(as); err != nil && as != "" && as != watchdog.Text {
		return nil, fmt.Errorf("--as is %q: %w, or %s", as, err, watchdog.Text)
	}
	cells, err := Select(args)
	if err != nil {
		return nil, err
	}
	ran := make(map[string]reports.Cell)
	if against != "" {
		report, err := ReadReport(against)
		if err != nil {
			return nil, err
		}
		for _, c := range report.Cells {
			ran[c.ID] = c
		}
	}
	var played []Simulated
	for _, cell := range cells {
		program, err := check.Compile(cell)
		if err != nil {
			return nil, err
		}
		_, result := simulate.Cell(ctx, simulate.As(cell, as), program)
		played = append(played, Simulated{Model: true, Cell: result, Against: otherwise(result, ran[cell.ID])})
	}
	return played, nil
}

// otherwise are the outcomes of a run's checks that are not the model's.
func otherwise(model, run reports.Cell) map[string]reports.Outcome {
	different := make(map[string]reports.Outcome)
	for _, ran := range run.Checks {
		for _, c := range model.Checks {
			if c.ID == ran.ID && held(ran.Outcome) != held(c.Outcome) {
				different[c.ID] = ran.Outcome
			}
		}
	}
	return different
}

// held reports whether a check held, known deviations aside.
func held(o reports.Outcome) bool { return o == reports.Pass || o == reports.UnexpectedPass }
