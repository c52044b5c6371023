package app

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/sweep/trial"
)

// times is how often a finding is looked for again, with its gates off and with them on.
const times = 3

// confirm runs the scenarios of findings, and keeps in them what each scenario saw.
func (s Sweep) confirm(ctx context.Context, builder *build.Builder, swept *swept) error {
	all, err := swept.writeScenarios(s.Dir, builder.Releases().Sources)
	if err != nil || len(all) == 0 {
		return err
	}
	var files []string
	for _, one := range all {
		files = append(files, one.files...)
	}
	here, err := HereOn(builder.Releases())
	if err != nil {
		return err
	}
	cells, err := here.Select(files)
	if err != nil {
		return err
	}
	// The runs of a finding and of its control mostly wait: all are together, if that is not much more than what may run.
	report, err := Run(ctx, cells, Options{
		Dir: filepath.Join(s.Dir, sweptAlone), Binary: builder.Binary, Catalog: here, Repeat: times, Parallel: max(s.Parallel, min(2*s.Parallel, 2*times)),
	})
	if err == nil {
		err = context.Cause(ctx) // some may not have run three times
	}
	if err != nil {
		return err
	}
	for _, one := range all {
		alone, control := rate(report, one.alone), rate(report, one.control)
		for i, found := range swept.Findings[one.finding].Items {
			if slices.Equal(swept.own(found), swept.own(one.of)) {
				swept.Findings[one.finding].Items[i].Alone, swept.Findings[one.finding].Items[i].Control = alone, control
			}
		}
	}
	swept.Findings, swept.NotConfirmed = trial.Split(swept.Findings)
	return nil
}

// rate is how many runs of a scenario were red.
func rate(report reports.Report, scenario string) *trial.Rate {
	r := new(trial.Rate)
	for _, c := range report.Cells {
		if c.Scenario != scenario {
			continue
		}
		for _, run := range c.EachRun() {
			r.Runs++
			if run.Outcome.Nonconforming() {
				r.Red++
			}
		}
	}
	return r
}
