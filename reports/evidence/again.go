package evidence

import (
	"slices"

	"github.com/skewrig/skewrig/reports"
)

// withoutAgain leaves out the cells that add nothing to another one: it has all their runs, and
// says all that they say against something. Of two that add nothing to each other, the first stays.
func withoutAgain(cells []Cell) (rest []Cell, again []string) {
	for i, c := range cells {
		adds := !slices.ContainsFunc(cells, func(other Cell) bool { return c.ID == other.ID && other.covers(c) && !c.covers(other) }) &&
			!slices.ContainsFunc(cells[:i], func(other Cell) bool { return c.ID == other.ID && other.covers(c) })
		if adds {
			rest = append(rest, c)
		} else {
			again = append(again, c.ID)
		}
	}
	return rest, again
}

// covers reports whether a cell has all runs of another one of its id, and says nothing milder.
func (c Cell) covers(other Cell) bool {
	mine := c.starts()
	for start := range other.starts() {
		if !mine[start] || start == 0 { // one that is not known is no other's
			return false
		}
	}
	for _, said := range other.Checks {
		same := func(check reports.Check) bool { return check.ID == said.ID }
		if i := slices.IndexFunc(c.Checks, same); weight(said.Outcome) > 0 && (i < 0 || weight(c.Checks[i].Outcome) < weight(said.Outcome)) {
			return false
		}
	}
	return weight(c.Outcome) >= weight(other.Outcome)
}

// starts are when the runs of a cell started, in milliseconds: 0 if that is not known.
func (c Cell) starts() map[int64]bool {
	starts := make(map[int64]bool)
	for _, r := range c.EachRun() {
		if r.Started.IsZero() {
			starts[0] = true
		} else {
			starts[r.Started.UnixMilli()] = true
		}
	}
	return starts
}

// weight orders outcomes by what a finding makes of them: 0 is nothing against it.
func weight(o reports.Outcome) int {
	switch {
	case o == reports.Pass || o == reports.NotApplicable:
		return 0
	case o == reports.Ambiguous:
		return 1
	case !o.Judged():
		return 2
	}
	return 3
}
