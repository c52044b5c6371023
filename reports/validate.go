package reports

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Validate returns everything that is wrong with a report. Whatever is
// computed is computed again: a report whose outcomes or counts do not follow
// from its checks was typed by hand, and is refused.
func Validate(r Report) error {
	var problems []error
	if r.APIVersion != APIVersion || r.Kind != Kind {
		problems = append(problems, fmt.Errorf("apiVersion %q and kind %q, where %q and %q were expected", r.APIVersion, r.Kind, APIVersion, Kind))
	}
	computed, err := Assemble(r.Cells, r.Requirements, r.Reproduce)
	if err != nil {
		return errors.Join(append(problems, err)...)
	}
	if !slices.Equal(ids(r), ids(computed)) {
		return errors.Join(append(problems, errors.New("cells or requirements are not sorted by id"))...)
	}
	together := summarize(r.Cells, func(Cell) bool { return false }) // as earlier versions counted
	if !reflect.DeepEqual(r.Summary, computed.Summary) && !reflect.DeepEqual(r.Summary, together) {
		problems = append(problems, fmt.Errorf("summary %v, where the cells give %v", r.Summary, computed.Summary))
	}
	for i, c := range r.Cells {
		problems = append(problems, compareCells(c, computed.Cells[i])...)
	}
	for i, q := range r.Requirements {
		want := computed.Requirements[i]
		if q.Outcome != want.Outcome || !slices.Equal(q.Cells, want.Cells) {
			problems = append(problems, fmt.Errorf("requirement %s: %q by cells %q, where the checks give %q by cells %q", q.ID, q.Outcome, q.Cells, want.Outcome, want.Cells))
		}
	}
	return errors.Join(problems...)
}

func ids(r Report) []string {
	var all []string
	for _, c := range r.Cells {
		all = append(all, c.ID)
	}
	for _, q := range r.Requirements {
		all = append(all, q.ID)
	}
	return all
}

func compareCells(got, want Cell) []error {
	var problems []error
	if got.Outcome != want.Outcome {
		problems = append(problems, fmt.Errorf("cell %s: outcome %q, where the checks give %q", got.ID, got.Outcome, want.Outcome))
	}
	if got.Reason != want.Reason {
		problems = append(problems, fmt.Errorf("cell %s: reason %q, where the checks give %q", got.ID, got.Reason, want.Reason))
	}
	if !slices.Equal(got.Requirements, want.Requirements) {
		problems = append(problems, fmt.Errorf("cell %s: requirements %q, where the checks give %q", got.ID, got.Requirements, want.Requirements))
	}
	problems = append(problems, compareChecks(got.ID, got.Checks, want.Checks)...)
	if got.Rate != want.Rate {
		problems = append(problems, fmt.Errorf("cell %s: rate %+v, where the runs give %+v", got.ID, got.Rate, want.Rate))
	}
	for i, run := range got.Runs {
		settled := want.Runs[i]
		if run.Outcome != settled.Outcome || run.Reason != settled.Reason || run.Dir != settled.Dir {
			problems = append(problems, fmt.Errorf("cell %s: run %d is %q because %q in %q, where its checks give %q because %q in %q",
				got.ID, run.Number, run.Outcome, run.Reason, run.Dir, settled.Outcome, settled.Reason, settled.Dir))
		}
		problems = append(problems, compareChecks(fmt.Sprintf("%s: run %d", got.ID, run.Number), run.Checks, settled.Checks)...)
	}
	return problems
}

func compareChecks(cell string, got, want []Check) []error {
	if len(got) != len(want) {
		return []error{fmt.Errorf("cell %s: %d checks, where its runs have %d", cell, len(got), len(want))}
	}
	var problems []error
	for i, check := range got {
		if check != want[i] {
			problems = append(problems, fmt.Errorf("cell %s: check %s is %q, where the cell gives %q", cell, check.ID, check.Outcome, want[i].Outcome))
		}
	}
	return problems
}
