// Package diff says what changed from one report to another, cell by cell. It is
// pure, and two runs that saw the same have an empty diff: what a check that came
// out as before has observed is no difference, because ports, counts and addresses
// are in it.
package diff

import (
	"cmp"
	"slices"

	"github.com/skewrig/skewrig/reports"
)

// APIVersion and Kind say what a diff written as JSON is.
const (
	APIVersion = reports.APIVersion
	Kind       = "ReportDiff"
)

// Diff is what changed from one report to another. Every list is sorted by id.
type Diff struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// From and To name the reports, as the user did.
	From string `json:"from"`
	To   string `json:"to"`
	// Subject is what is different about what ran. If it is not empty, the reports
	// are about different subjects, and the rest is to be read so.
	Subject []SubjectChange `json:"subject"`
	// Problems are those of the runs as a whole.
	Problems Problems `json:"problems"`
	// Regressions are cells that were as expected and are not, or that have a check
	// of which this is true. Fixes are those that were not as expected and are.
	Regressions []CellChange `json:"regressions"`
	Fixes       []CellChange `json:"fixes"`
	// Changed are the other cells that are not as they were: they have another
	// outcome, another reason, or checks of which that is true.
	Changed []CellChange `json:"changed"`
	// New and Gone are cells that only one of the reports has.
	New  []CellState `json:"new"`
	Gone []CellState `json:"gone"`
	// Requirements are those with another verdict than before.
	Requirements []RequirementChange `json:"requirements"`
	// Slower are the cells that took longer, by the measure of Options. It is
	// volatile.
	Slower []Slower `json:"slower"`
	// Pace is how many times as long the cells of the second run took that were in
	// both, by the median; 0 if there are none. It is volatile.
	Pace float64 `json:"pace"`
}

// SubjectChange is something that ran in another form than before.
type SubjectChange struct {
	// Name is that of a component, or skewrig, go or seed.
	Name string `json:"name"`
	// Before and After are the forms of it that only one of the runs has.
	Before []string `json:"before"`
	After  []string `json:"after"`
}

// Problems are the problems of runs that only one of them has.
type Problems struct {
	New  []string `json:"new"`
	Gone []string `json:"gone"`
}

// CellState is the outcome of a cell.
type CellState struct {
	ID      string          `json:"id"`
	Outcome reports.Outcome `json:"outcome"`
	Reason  string          `json:"reason,omitempty"`
}

// CellChange is a cell that both reports have.
type CellChange struct {
	ID     string  `json:"id"`
	Before Verdict `json:"before"`
	After  Verdict `json:"after"`
	// Checks are those that are not as they were.
	Checks []CheckChange `json:"checks"`
}

// Verdict is an outcome and why it is that.
type Verdict struct {
	Outcome reports.Outcome `json:"outcome"`
	Reason  string          `json:"reason,omitempty"`
}

// CheckChange is a check that is not as it was.
type CheckChange struct {
	ID string `json:"id"`
	// Before is unset for a check that is new, After for one that is gone.
	Before *CheckState `json:"before,omitempty"`
	After  *CheckState `json:"after,omitempty"`
}

// CheckState is a check in one of the reports, with the fields of reports.Check.
type CheckState struct {
	Requirement string          `json:"requirement,omitempty"`
	Outcome     reports.Outcome `json:"outcome"`
	Expected    string          `json:"expected"`
	Observed    string          `json:"observed"`
	Reason      string          `json:"reason,omitempty"`
}

// RequirementChange is a requirement with another verdict than before.
type RequirementChange struct {
	ID string `json:"id"`
	// Before and After are empty where the report does not state the requirement.
	Before reports.Outcome `json:"before,omitempty"`
	After  reports.Outcome `json:"after,omitempty"`
}

// Slower is a cell that took longer.
type Slower struct {
	ID string `json:"id"`
	// Before and After are how long it took, in seconds.
	Before float64 `json:"beforeSeconds"`
	After  float64 `json:"afterSeconds"`
}

// Options say how reports are compared.
type Options struct {
	// From and To name the reports.
	From, To string
	// SlowerFactor is how many times as long a cell must take to be slower, and
	// SlowerSeconds how many seconds longer; it takes both. If the whole second run
	// was slower, by the median of its cells, that is taken off before, so that a
	// busy machine is not news of each cell. If both are unset, 1.5 and 10: cells
	// share rigs, and the one that starts it is not always the same.
	SlowerFactor, SlowerSeconds float64
}

// Compare returns what changed from one report to another.
func Compare(from, to reports.Report, options Options) Diff {
	d := Diff{
		APIVersion: APIVersion, Kind: Kind, From: options.From, To: options.To,
		Subject: subject(from.Reproduce, to.Reproduce),
		Problems: Problems{
			New:  without(to.Problems, from.Problems),
			Gone: without(from.Problems, to.Problems),
		},
		Regressions: []CellChange{}, Fixes: []CellChange{}, Changed: []CellChange{},
		New: []CellState{}, Gone: []CellState{},
		Requirements: requirements(from.Requirements, to.Requirements),
	}
	for _, p := range pairs(from.Cells, to.Cells, func(c reports.Cell) string { return c.ID }) {
		switch {
		case p.before == nil:
			d.New = append(d.New, CellState{p.id, p.after.Outcome, p.after.Reason})
		case p.after == nil:
			d.Gone = append(d.Gone, CellState{p.id, p.before.Outcome, p.before.Reason})
		default:
			d.add(*p.before, *p.after)
		}
	}
	d.Slower, d.Pace = slower(from.Cells, to.Cells, options)
	return d
}

// add puts a cell that both reports have where it belongs, if it changed.
func (d *Diff) add(before, after reports.Cell) {
	change := CellChange{
		ID:     after.ID,
		Before: Verdict{before.Outcome, before.Reason},
		After:  Verdict{after.Outcome, after.Reason},
		Checks: checks(before.Checks, after.Checks),
	}
	switch {
	case regressed(change):
		d.Regressions = append(d.Regressions, change)
	case !before.Outcome.Expected() && after.Outcome.Expected():
		d.Fixes = append(d.Fixes, change)
	case before.Outcome != after.Outcome || reason(before) != reason(after) || len(change.Checks) > 0:
		d.Changed = append(d.Changed, change)
	}
}

// regressed reports whether the cell, or one of its checks, was as expected and
// no longer is. A check counts by itself: a cell that was red already hides
// nothing.
func regressed(c CellChange) bool {
	worse := func(before, after reports.Outcome) bool { return before.Expected() && !after.Expected() }
	return worse(c.Before.Outcome, c.After.Outcome) || slices.ContainsFunc(c.Checks, func(check CheckChange) bool {
		return check.Before != nil && check.After != nil && worse(check.Before.Outcome, check.After.Outcome)
	})
}

// reason is the reason of a cell as it is compared. One that is nothing but what
// the deciding check observed is left out: the check is compared by itself.
func reason(c reports.Cell) string {
	i := slices.IndexFunc(c.Checks, func(check reports.Check) bool { return check.Outcome == c.Outcome })
	if i >= 0 && c.Checks[i].Reason == "" && c.Reason == reports.ReasonOf(c.Checks[i]) {
		return c.Checks[i].ID
	}
	return c.Reason
}

func checks(before, after []reports.Check) []CheckChange {
	changes := []CheckChange{}
	for _, p := range pairs(before, after, func(c reports.Check) string { return c.ID }) {
		if p.before != nil && p.after != nil && withoutObserved(*p.before) == withoutObserved(*p.after) {
			continue
		}
		changes = append(changes, CheckChange{ID: p.id, Before: stateOf(p.before), After: stateOf(p.after)})
	}
	return changes
}

// withoutObserved is a check without what differs from run to run.
func withoutObserved(c reports.Check) reports.Check {
	c.Observed = ""
	return c
}

func stateOf(c *reports.Check) *CheckState {
	if c == nil {
		return nil
	}
	return &CheckState{c.Requirement, c.Outcome, c.Expected, c.Observed, c.Reason}
}

func requirements(before, after []reports.Requirement) []RequirementChange {
	changes := []RequirementChange{}
	for _, p := range pairs(before, after, func(q reports.Requirement) string { return q.ID }) {
		change := RequirementChange{ID: p.id}
		if p.before != nil {
			change.Before = p.before.Outcome
		}
		if p.after != nil {
			change.After = p.after.Outcome
		}
		// What is not stated is as unknown as what no cell serves.
		if cmp.Or(change.Before, reports.Unknown) != cmp.Or(change.After, reports.Unknown) {
			changes = append(changes, change)
		}
	}
	return changes
}

// pair is something in both reports, or in one of them.
type pair[T any] struct {
	id            string
	before, after *T // nil where it isn't
}

// pairs joins two lists by id, and sorts by it.
func pairs[T any](before, after []T, id func(T) string) []pair[T] {
	joined := make([]pair[T], 0, len(after))
	at := make(map[string]int)
	for i := range before {
		at[id(before[i])] = len(joined)
		joined = append(joined, pair[T]{id: id(before[i]), before: &before[i]})
	}
	for i := range after {
		if n, both := at[id(after[i])]; both {
			joined[n].after = &after[i]
			continue
		}
		joined = append(joined, pair[T]{id: id(after[i]), after: &after[i]})
	}
	slices.SortStableFunc(joined, func(a, b pair[T]) int { return cmp.Compare(a.id, b.id) })
	return joined
}

func without(list, other []string) []string {
	rest := []string{}
	for _, s := range list {
		if !slices.Contains(other, s) {
			rest = append(rest, s)
		}
	}
	return rest
}
