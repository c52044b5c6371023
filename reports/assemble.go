package reports

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/skewrig/skewrig/reports/cellid"
)

// ErrDuplicate is wrapped by the error for a cell, a check of a cell, or a
// requirement whose id another one already has.
var ErrDuplicate = errors.New("used twice")

// ErrUnknownRequirement is wrapped by the error for a check, or a cell, that
// serves a requirement which is not in the ledger.
var ErrUnknownRequirement = errors.New("not in the ledger")

// Assemble makes the report of a run: it settles each cell, joins the checks
// with the requirements of the ledger, counts, and sorts everything by id. It
// changes none of its arguments, and assembling the parts of a report again
// gives the same report. Problems with the run as a whole are for the caller to
// add.
//
// The error names every id that is malformed, used twice or not in the ledger
// (ErrDuplicate, ErrUnknownRequirement), and every value that is not an outcome
// (ErrOutcome). A plan that was checked before it ran causes none of them.
func Assemble(cells []Cell, requirements []Requirement, reproduce Reproduce) (Report, error) {
	if err := checkIDs(cells, requirements); err != nil {
		return Report{}, err
	}
	r := Report{APIVersion: APIVersion, Kind: Kind, Reproduce: reproduce}
	r.Reproduce.Components = sortedComponents(reproduce.Components)
	r.Cells = make([]Cell, len(cells))
	for i, c := range cells {
		r.Cells[i] = c.Settled().explained().normalized()
	}
	slices.SortFunc(r.Cells, func(a, b Cell) int { return cmp.Compare(a.ID, b.ID) })
	r.Requirements = make([]Requirement, len(requirements))
	for i, q := range requirements {
		q.Outcome, q.Cells = RequirementOutcome(q.ID, r.Cells)
		r.Requirements[i] = q
	}
	slices.SortFunc(r.Requirements, func(a, b Requirement) int { return cmp.Compare(a.ID, b.ID) })
	r.Summary = Summarize(r.Cells)
	return r, nil
}

func sortedComponents(components []Component) []Component {
	sorted := append([]Component{}, components...)
	slices.SortStableFunc(sorted, func(a, b Component) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	return sorted
}

// normalized gives the cell the one form in which it is written: no missing
// lists, sorted requirement ids, UTC, milliseconds.
func (c Cell) normalized() Cell {
	serves := map[string]bool{}
	for _, id := range c.Requirements {
		serves[id] = true
	}
	for _, check := range c.Checks {
		serves[check.Requirement] = true
	}
	delete(serves, "")
	c.Requirements = append([]string{}, slices.Sorted(maps.Keys(serves))...)
	if c.Axes == nil {
		c.Axes = map[string]string{}
	}
	if c.Checks == nil {
		c.Checks = []Check{}
	}
	if len(c.Runs) == 0 {
		c.Rate, c.Differs = Rate{}, Difference{}
	}
	c.Started, c.DurationSeconds = toMilliseconds(c.Started, c.DurationSeconds)
	return c
}

// toMilliseconds gives times the form in which they are written.
func toMilliseconds(started time.Time, seconds float64) (time.Time, float64) {
	return started.UTC().Round(time.Millisecond), math.Round(seconds*1000) / 1000
}

// faults are what is wrong with a report.
type faults []error

func (f *faults) when(is bool, format string, args ...any) {
	if is {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

func checkIDs(cells []Cell, requirements []Requirement) error {
	var f faults
	ledger := map[string]bool{}
	for _, q := range requirements {
		f.when(q.ID == "", "a requirement of %s has no id: %q", q.KEP, q.Statement)
		f.when(ledger[q.ID], "requirement %s: %w", q.ID, ErrDuplicate)
		ledger[q.ID] = true
	}
	seen := map[string]bool{}
	for _, c := range cells {
		f.when(seen[c.ID], "cell %s: %w", c.ID, ErrDuplicate)
		seen[c.ID] = true
		f.checkCell(c, ledger)
	}
	return errors.Join(f...)
}

func (f *faults) checkCell(c Cell, ledger map[string]bool) {
	if err := cellid.Check(c.ID); err != nil {
		f.when(true, "cell: %w", err)
	}
	f.checkResult("cell "+c.ID, c.Outcome, c.DurationSeconds)
	for _, id := range c.Requirements {
		f.when(!ledger[id], "cell %s: requirement %q: %w", c.ID, id, ErrUnknownRequirement)
	}
	f.checkChecks("cell "+c.ID, c.Checks, ledger)
	for i, r := range c.Runs {
		f.when(r.Number < 1 || i > 0 && r.Number <= c.Runs[i-1].Number, "cell %s: its runs are not numbered from 1 upwards: %d", c.ID, r.Number)
		run := fmt.Sprintf("cell %s: run %d", c.ID, r.Number)
		f.checkResult(run, r.Outcome, r.DurationSeconds)
		f.checkChecks(run, r.Checks, ledger)
	}
}

func (f *faults) checkResult(of string, outcome Outcome, seconds float64) {
	f.when(outcome != "" && !outcome.Valid(), "%s: %q: %w", of, outcome, ErrOutcome)
	f.when(!isDuration(seconds), "%s: %v s is not a duration", of, seconds)
}

func (f *faults) checkChecks(of string, checks []Check, ledger map[string]bool) {
	seen := map[string]bool{}
	for _, check := range checks {
		if err := cellid.Check(check.ID); err != nil {
			f.when(true, "%s: check: %w", of, err)
		}
		f.when(!check.Outcome.Valid(), "%s: check %s: %q: %w", of, check.ID, check.Outcome, ErrOutcome)
		f.when(check.Requirement != "" && !ledger[check.Requirement], "%s: check %s: requirement %q: %w", of, check.ID, check.Requirement, ErrUnknownRequirement)
		f.when(seen[check.ID], "%s: check %s: %w", of, check.ID, ErrDuplicate)
		seen[check.ID] = true
	}
}

func isDuration(seconds float64) bool { return seconds >= 0 && !math.IsInf(seconds, 0) }
