package reports

import (
	"fmt"
	"slices"
	"strings"
)

// Readings are the statements of texts that contradict each other, by their ids: no
// release can do as two of them say.
type Readings map[string][]string

// ReadingsOf returns those that requirements name. If one names another, each
// contradicts the other.
func ReadingsOf(requirements []Requirement) Readings {
	readings := make(Readings)
	add := func(one, other string) {
		if !slices.Contains(readings[one], other) {
			readings[one] = append(readings[one], other)
		}
	}
	for _, q := range requirements {
		for _, other := range q.Contradicts {
			add(q.ID, other)
			add(other, q.ID)
		}
	}
	return readings
}

// Judge returns a settled cell in which a recorded deviation from a statement is
// Ambiguous if the cell shows that the release does as a contradicting statement says.
// One that does as neither says deviates.
func (r Readings) Judge(c Cell) Cell {
	held := make(map[string]bool)
	for _, check := range c.Checks {
		before, seen := held[check.Requirement]
		held[check.Requirement] = check.Outcome == Pass && (before || !seen)
	}
	judged := c.clone()
	changed := false
	for i, check := range c.Checks {
		does := slices.DeleteFunc(slices.Clone(r[check.Requirement]), func(other string) bool { return !held[other] })
		if check.Outcome != ExpectedFail || len(does) == 0 {
			continue
		}
		judged.Checks[i].Outcome = Ambiguous
		judged.Checks[i].Reason = because(fmt.Sprintf("the text also says %s, which this release does, and no release can do both; its authors must say which is meant",
			strings.Join(does, " and ")), check.Reason)
		changed = true
	}
	if changed {
		judged.Outcome, judged.Reason = "", "" // those were of other outcomes
	}
	return judged.Settled()
}
