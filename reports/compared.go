package reports

import (
	"fmt"
	"slices"
	"strings"
)

// Compared is how a cell differs from another one of its scenario: see spec.Compare.
type Compared struct {
	// With is the id of the other cell.
	With string `json:"with"`
	// Distinctions are in the order in which they begin.
	Distinctions []Distinction `json:"distinctions"`
}

// IsZero reports whether there is no comparison.
func (c Compared) IsZero() bool { return c.With == "" }

// Distinction is something that one of two cells showed and the other did not.
type Distinction struct {
	// What is what differs: a field of an object, the answer to a step, a check.
	What string `json:"what"`
	// Here is what it was in the cell, and There what it was in the one that it is compared
	// with. If unset, it was not seen there.
	Here  string `json:"here,omitempty"`
	There string `json:"there,omitempty"`
	// Step is the number of the step in which it began; 0 is before the first one.
	Step int `json:"step"`
	// At is when it began, in seconds since the record of the cell began, or of the other one if
	// it was not seen here. It is volatile.
	At float64 `json:"at"`
	// Chance is true if two runs of one cell may differ so, too. It is never held against the
	// cell.
	Chance bool `json:"chance,omitempty"`
	// Because is how the scenario explains it. If unset, it does not.
	Because string `json:"because,omitempty"`
}

// Counts reports whether it is held against the cell.
func (d Distinction) Counts() bool { return !d.Chance && d.Because == "" }

// then joins what was seen of the same in one cell.
const then = ", then "

// Then adds to what was seen in one of the cells.
func Then(seen, more string) string {
	if seen == "" {
		return more
	}
	return seen + then + more
}

// Said is all that was seen in one of the cells and not in the other.
func (d Distinction) Said() (all []string) {
	for _, seen := range []string{d.Here, d.There} {
		if seen != "" {
			all = append(all, strings.Split(seen, then)...)
		}
	}
	return all
}

// String says it in a line, without when.
func (d Distinction) String() string {
	value := func(s string) string {
		if s == "" {
			return "not seen"
		}
		return s
	}
	return fmt.Sprintf("%s: %s here, %s there", d.What, value(d.Here), value(d.There))
}

// Unexplained are the distinctions that are held against the cell.
func (c Compared) Unexplained() (all []Distinction) {
	return Only(c.Distinctions, Distinction.Counts)
}

// Check judges the comparison as a check of the cell.
func (c Compared) Check(id, requirement string) Check {
	check := Check{
		ID: id, Requirement: requirement, Outcome: Pass,
		Expected: fmt.Sprintf("what %s shows, but for what the scenario explains", c.With), Observed: "the same",
	}
	if left := c.Unexplained(); len(left) > 0 {
		lines := Each(left, Distinction.String)
		slices.Sort(lines) // when they begin is another step in another run
		check.Outcome, check.Observed = Fail, strings.Join(lines, "; ")
	}
	return check
}
