package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Readings are the statements that contradict one, by its id: no release can do as two
// of them say.
type Readings map[string][]Requirement

// ReadingsOf returns those that requirements name. If one names another, each
// contradicts the other.
func ReadingsOf(requirements []Requirement) Readings {
	readings := make(Readings)
	for _, q := range requirements {
		for _, other := range requirements {
			if slices.Contains(q.Contradicts, other.ID) || slices.Contains(other.Contradicts, q.ID) {
				readings[q.ID] = append(readings[q.ID], other)
			}
		}
	}
	return readings
}

// Judge returns a settled cell in which a recorded deviation from a statement is
// Ambiguous if the cell shows that the release does as a contradicting statement says.
// One that does as neither says deviates.
func (r Readings) Judge(c Cell) Cell {
	judged := c.clone()
	changed := false
	for i, check := range c.Checks {
		does := Only(r[check.Requirement], func(other Requirement) bool { return len(c.showing(other.ID)) != 0 })
		if check.Outcome != ExpectedFail || len(does) == 0 {
			continue
		}
		judged.Checks[i].Outcome = Ambiguous
		judged.Checks[i].Reason = fmt.Sprintf("the text says two things. This release does the other, %s Authors: which is meant?", withIDs(does))
		if check.Reason != "" {
			judged.Checks[i].Reason += " Recorded: " + check.Reason
		}
		changed = true
	}
	if changed {
		judged.Outcome, judged.Reason = "", "" // those were of other outcomes
	}
	return judged.Settled()
}

// Rests returns the checks that show that a release does as another reading says than an
// ambiguous check of a judged cell.
func (r Readings) Rests(c Cell, check Check) (checks []Check) {
	if check.Outcome != Ambiguous {
		return nil
	}
	for _, other := range r[check.Requirement] {
		checks = append(checks, c.showing(other.ID)...)
	}
	return checks
}

// showing are the checks of a requirement if all of them pass.
func (c Cell) showing(requirement string) (checks []Check) {
	for _, check := range c.Checks {
		if check.Requirement != requirement {
			continue
		}
		if check.Outcome != Pass {
			return nil
		}
		checks = append(checks, check)
	}
	return checks
}

// withIDs are statements, each with its id.
func withIDs(statements []Requirement) string {
	parts := make([]string, len(statements))
	for i, q := range statements {
		parts[i] = q.ID + ": " + WithoutReading(q.Statement)
	}
	return strings.Join(parts, " ")
}

// reading is how a statement begins that is one of several readings of a text.
var reading = regexp.MustCompile(`^(?:First|Second|Third) reading[^:]*: `)

// WithoutReading is a statement without the words that say which reading of a text it is.
func WithoutReading(statement string) string {
	rest := statement[len(reading.FindString(statement)):]
	if rest == statement || rest == "" {
		return statement
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}
