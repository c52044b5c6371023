package reports

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Outcome is the result of a check, a cell or a requirement. The constants
// below are all there are: any other value is refused on encoding and on
// decoding.
type Outcome string

const (
	// NotApplicable: the promise does not hold for these versions or these
	// gates, for a recorded reason.
	NotApplicable Outcome = "not-applicable"
	// Pass: observed as expected.
	Pass Outcome = "pass"
	// Ambiguous: it failed, and the known-deviation list says that the text says
	// two things which no release can both do. It is never held against a release.
	Ambiguous Outcome = "ambiguous"
	// ExpectedFail: it failed, and the known-deviation list says so, with a
	// reason and a link.
	ExpectedFail Outcome = "expected-fail"
	// NotTestable: a prerequisite is missing, so nothing was judged.
	NotTestable Outcome = "not-testable"
	// Unknown: there is not enough evidence to judge.
	Unknown Outcome = "unknown"
	// HarnessError: this program is at fault, not the subject.
	HarnessError Outcome = "harness-error"
	// UnexpectedPass: it passed although the known-deviation list says it
	// fails: the list is stale.
	UnexpectedPass Outcome = "unexpected-pass"
	// Flaky: it failed in some of several runs, and passed in others.
	Flaky Outcome = "flaky"
	// Fail: observed something other than expected.
	Fail Outcome = "fail"
)

// Outcomes returns every outcome, from the mildest to the most severe: first
// those that are as expected, then those that were not judged, then the
// nonconformances. A nonconformance that was seen is stronger news than
// something that was not judged beside it, so it comes last.
func Outcomes() []Outcome {
	return []Outcome{
		NotApplicable, Pass, Ambiguous, ExpectedFail,
		NotTestable, Unknown, HarnessError,
		UnexpectedPass, Flaky, Fail,
	}
}

// Meaning returns what an outcome says, in one line. It is empty for a value
// that is not an outcome.
func (o Outcome) Meaning() string {
	return map[Outcome]string{
		NotApplicable:  "does not apply to these versions or gates, for the recorded reason",
		Pass:           "observed as expected",
		Ambiguous:      "the text contradicts itself, and the release does as its other reading says",
		ExpectedFail:   "deviates as the list of known deviations says",
		NotTestable:    "a prerequisite is missing, so nothing was judged",
		Unknown:        "not enough evidence to judge",
		HarnessError:   "skewrig is at fault, not the subject",
		UnexpectedPass: "passed although the list of known deviations says it fails: the entry is stale",
		Flaky:          "failed in some of several runs and passed in others",
		Fail:           "observed something other than expected, and no list of known deviations says so",
	}[o]
}

// Word returns what an outcome is called where people read it, as in the headline. Files
// for programs have the outcome itself.
func (o Outcome) Word() string {
	switch o {
	case Fail:
		return "new"
	case ExpectedFail:
		return "deviates"
	}
	return strings.ReplaceAll(string(o), "-", " ")
}

// Count returns how many cells have an outcome, in its word: "2 deviate as recorded".
func (o Outcome) Count(n int) string {
	switch {
	case o == ExpectedFail && n == 1:
		return "1 deviates as recorded"
	case o == ExpectedFail:
		return fmt.Sprintf("%d deviate as recorded", n)
	}
	return fmt.Sprintf("%d %s", n, o.Word())
}

// ErrOutcome is wrapped by the error for a value that is not an outcome.
var ErrOutcome = errors.New("not an outcome")

// Valid reports whether o is one of the closed set.
func (o Outcome) Valid() bool { return o.severity() >= 0 }

// Expected reports whether nothing needs attention: Pass, Ambiguous, ExpectedFail
// or NotApplicable.
func (o Outcome) Expected() bool { return o == Pass || o.Recorded() || o == NotApplicable }

// Recorded reports whether the subject failed as the known-deviation list says:
// Ambiguous or ExpectedFail.
func (o Outcome) Recorded() bool { return o == Ambiguous || o == ExpectedFail }

// Judged reports whether a verdict was reached about the subject, for good or
// ill: not for NotApplicable, NotTestable, Unknown, HarnessError, nor for a
// value that is not an outcome.
func (o Outcome) Judged() bool { return o == Pass || o.Recorded() || o.Nonconforming() }

// Nonconforming reports whether the subject, or the known-deviation list, is
// wrong: Fail, UnexpectedPass or Flaky.
func (o Outcome) Nonconforming() bool { return o == Fail || o == UnexpectedPass || o == Flaky }

// Compare orders outcomes by severity, the milder first. A value that is not an
// outcome sorts before all of them.
func (o Outcome) Compare(other Outcome) int { return cmp.Compare(o.severity(), other.severity()) }

func (o Outcome) severity() int { return slices.Index(Outcomes(), o) }

// MarshalText refuses a value that is not an outcome.
func (o Outcome) MarshalText() ([]byte, error) {
	if !o.Valid() {
		return nil, fmt.Errorf("%q: %w", string(o), ErrOutcome)
	}
	return []byte(o), nil
}

// UnmarshalText refuses a value that is not an outcome.
func (o *Outcome) UnmarshalText(text []byte) error {
	if !Outcome(text).Valid() {
		return fmt.Errorf("%q: %w", text, ErrOutcome)
	}
	*o = Outcome(text)
	return nil
}
