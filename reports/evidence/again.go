package evidence

import (
	"slices"
	"time"

	"github.com/skewrig/skewrig/reports"
)

// withoutAgain leaves out the cells that add nothing to another one: it has all their runs, and
// says all that they say against something. Of two that add nothing to each other, the first stays.
func withoutAgain(cells []Cell) (rest []Cell, again []string) {
	same := make(map[string][]started) // by id
	for _, c := range cells {
		same[c.ID] = append(same[c.ID], started{c, c.starts()})
	}
	had := make(map[string]int) // by id
	for _, c := range cells {
		if adds(same[c.ID], had[c.ID]) {
			rest = append(rest, c)
		} else {
			again = append(again, c.ID)
		}
		had[c.ID]++
	}
	return rest, again
}

// adds reports whether a cell adds something to others of its id.
func adds(all []started, at int) bool {
	c := all[at]
	for n, other := range all {
		if n != at && other.covers(c) && (n < at || !c.covers(other)) {
			return false
		}
	}
	return true
}

// started is a cell with its starts.
type started struct {
	Cell

	starts []int64
}

// covers reports whether a cell has all runs of another one of its id, and says nothing milder.
func (c started) covers(other started) bool {
	for _, start := range other.starts {
		if start == 0 || !slices.Contains(c.starts, start) { // one that is not known is no other's
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
func (c Cell) starts() []int64 {
	if len(c.Runs) == 0 {
		return []int64{milliseconds(c.Started)}
	}
	return reports.Each(c.Runs, func(r reports.Run) int64 { return milliseconds(r.Started) })
}

func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
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
