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

func checkIDs(cells []Cell, requirements []Requirement) error {
	var problems []error
	ledger := map[string]bool{}
	for _, q := range requirements {
		if q.ID == "" {
			problems = append(problems, fmt.Errorf("a requirement of %s has no id: %q", q.KEP, q.Statement))
		}
		if ledger[q.ID] {
			problems = append(problems, fmt.Errorf("requirement %s: %w", q.ID, ErrDuplicate))
		}
		ledger[q.ID] = true
	}
	seen := map[string]bool{}
	for _, c := range cells {
		if seen[c.ID] {
			problems = append(problems, fmt.Errorf("cell %s: %w", c.ID, ErrDuplicate))
		}
		seen[c.ID] = true
		problems = append(problems, checkCell(c, ledger)...)
	}
	return errors.Join(problems...)
}

func checkCell(c Cell, ledger map[string]bool) []error {
	var problems []error
	if err := cellid.Check(c.ID); err != nil {
		problems = append(problems, fmt.Errorf("cell: %w", err))
	}
	if c.Outcome != "" && !c.Outcome.Valid() {
		problems = append(problems, fmt.Errorf("cell %s: %q: %w", c.ID, c.Outcome, ErrOutcome))
	}
	if !isDuration(c.DurationSeconds) {
		problems = append(problems, fmt.Errorf("cell %s: %v s is not a duration", c.ID, c.DurationSeconds))
	}
	for _, id := range c.Requirements {
		if !ledger[id] {
			problems = append(problems, fmt.Errorf("cell %s: requirement %q: %w", c.ID, id, ErrUnknownRequirement))
		}
	}
	problems = append(problems, checkChecks(c.ID, c.Checks, ledger)...)
	for i, r := range c.Runs {
		if r.Number < 1 || i > 0 && r.Number <= c.Runs[i-1].Number {
			problems = append(problems, fmt.Errorf("cell %s: its runs are not numbered from 1 upwards: %d", c.ID, r.Number))
		}
		if r.Outcome != "" && !r.Outcome.Valid() {
			problems = append(problems, fmt.Errorf("cell %s: run %d: %q: %w", c.ID, r.Number, r.Outcome, ErrOutcome))
		}
		if !isDuration(r.DurationSeconds) {
			problems = append(problems, fmt.Errorf("cell %s: run %d: %v s is not a duration", c.ID, r.Number, r.DurationSeconds))
		}
		problems = append(problems, checkChecks(fmt.Sprintf("%s: run %d", c.ID, r.Number), r.Checks, ledger)...)
	}
	return problems
}

func checkChecks(cell string, checks []Check, ledger map[string]bool) []error {
	var problems []error
	seen := map[string]bool{}
	for _, check := range checks {
		problems = append(problems, checkCheck(cell, check, ledger)...)
		if seen[check.ID] {
			problems = append(problems, fmt.Errorf("cell %s: check %s: %w", cell, check.ID, ErrDuplicate))
		}
		seen[check.ID] = true
	}
	return problems
}

func checkCheck(cell string, check Check, ledger map[string]bool) []error {
	var problems []error
	if err := cellid.Check(check.ID); err != nil {
		problems = append(problems, fmt.Errorf("cell %s: check: %w", cell, err))
	}
	if !check.Outcome.Valid() {
		problems = append(problems, fmt.Errorf("cell %s: check %s: %q: %w", cell, check.ID, check.Outcome, ErrOutcome))
	}
	if check.Requirement != "" && !ledger[check.Requirement] {
		problems = append(problems, fmt.Errorf("cell %s: check %s: requirement %q: %w", cell, check.ID, check.Requirement, ErrUnknownRequirement))
	}
	return problems
}

func isDuration(seconds float64) bool { return seconds >= 0 && !math.IsInf(seconds, 0) }
