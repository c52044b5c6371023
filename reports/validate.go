package reports

import (
	"errors"
	"fmt"
	"slices"
)

// Validate returns everything that is wrong with a report. Whatever is
// computed is computed again: a report whose outcomes or counts do not follow
// from its checks was typed by hand, and is refused.
func Validate(r Report) error {
	var f faults
	f.when(r.APIVersion != APIVersion || r.Kind != Kind, "apiVersion %q and kind %q, where %q and %q were expected", r.APIVersion, r.Kind, APIVersion, Kind)
	computed, err := Assemble(r.Cells, r.Requirements, r.Reproduce)
	if err != nil {
		return errors.Join(append(f, err)...)
	}
	if !slices.Equal(ids(r), ids(computed)) {
		return errors.Join(append(f, errors.New("cells or requirements are not sorted by id"))...)
	}
	together := summarize(r.Cells, func(Cell) bool { return false }) // as earlier versions counted
	f.when(!sameCounts(r.Summary, computed.Summary) && !sameCounts(r.Summary, together),
		"summary %v, where the cells give %v", r.Summary, computed.Summary)
	for i, c := range r.Cells {
		f.compareCells(c, computed.Cells[i])
	}
	for i, q := range r.Requirements {
		want := computed.Requirements[i]
		f.when(q.Outcome != want.Outcome, "requirement %s: %q, where the checks give %q", q.ID, q.Outcome, want.Outcome)
		f.when(!slices.Equal(q.Cells, want.Cells), "requirement %s: its cells are not those of the checks: %s", q.ID, Few(symmetricDifference(q.Cells, want.Cells), maxNamed))
	}
	return errors.Join(f...)
}

// maxNamed is how many cells an error names.
const maxNamed = 3

// symmetricDifference returns what only one of two lists has, or all if only the order differs.
func symmetricDifference(a, b []string) []string {
	only := Only(slices.Concat(a, b), func(id string) bool { return slices.Contains(a, id) != slices.Contains(b, id) })
	if len(only) == 0 {
		return a
	}
	return only
}

// sameCounts compares summaries. One that was written before there was some outcome
// has no count of it, and no cell that has it.
func sameCounts(a, b Summary) bool {
	for _, o := range Outcomes() {
		if a.Outcomes[o] != b.Outcomes[o] {
			return false
		}
	}
	return a.Cells == b.Cells && a.Reference == b.Reference
}

func ids(r Report) []string {
	all := Each(r.Cells, func(c Cell) string { return c.ID })
	for _, q := range r.Requirements {
		all = append(all, q.ID)
	}
	return all
}

func (f *faults) compareCells(got, want Cell) {
	f.when(got.Outcome != want.Outcome, "cell %s: outcome %q, where the checks give %q", got.ID, got.Outcome, want.Outcome)
	f.when(got.Reason != want.Reason, "cell %s: reason %q, where the checks give %q", got.ID, got.Reason, want.Reason)
	f.when(!slices.Equal(got.Requirements, want.Requirements), "cell %s: requirements %q, where the checks give %q", got.ID, got.Requirements, want.Requirements)
	f.compareChecks(got.ID, got.Checks, want.Checks)
	f.when(got.Rate != want.Rate, "cell %s: rate %+v, where the runs give %+v", got.ID, got.Rate, want.Rate)
	for i, run := range got.Runs {
		settled := want.Runs[i]
		f.when(run.Outcome != settled.Outcome || run.Reason != settled.Reason || run.Dir != settled.Dir,
			"cell %s: run %d is %q because %q in %q, where its checks give %q because %q in %q",
			got.ID, run.Number, run.Outcome, run.Reason, run.Dir, settled.Outcome, settled.Reason, settled.Dir)
		f.compareChecks(fmt.Sprintf("%s: run %d", got.ID, run.Number), run.Checks, settled.Checks)
	}
}

func (f *faults) compareChecks(cell string, got, want []Check) {
	if len(got) != len(want) {
		f.when(true, "cell %s: %d checks, where its runs have %d", cell, len(got), len(want))
		return
	}
	for i, check := range got {
		f.when(check != want[i], "cell %s: check %s is %q, where the cell gives %q", cell, check.ID, check.Outcome, want[i].Outcome)
	}
}
