package evidence

import (
	"cmp"
	"slices"

	"github.com/skewrig/skewrig/reports"
)

// Finding is what cells say of something.
type Finding struct {
	// Of is the id of a statement, or of a cell.
	Of string `json:"of"`
	// Checks is how many checks held, In where. A check that held in several runs
	// of its cell is one.
	Checks int   `json:"checks"`
	In     []Ref `json:"in"`
	// Against are the checks that did not hold. A deviation that is known is one:
	// what is known to be wrong is wrong.
	Against []Contradiction `json:"against,omitempty"`
	// Ambiguous are the checks of a statement that its text contradicts: they show
	// which of the two a release does, and count against none.
	Ambiguous []Contradiction `json:"ambiguous,omitempty"`
	// Unjudged are cells that should have said something and could not.
	Unjudged []Unjudged `json:"unjudged,omitempty"`

	held map[[2]string]bool // cell and check
}

// Contradiction is a check that did not hold.
type Contradiction struct {
	Ref
	Check       string          `json:"check"`
	Requirement string          `json:"requirement,omitempty"`
	Came        reports.Outcome `json:"checkOutcome"`
	Expected    string          `json:"expected"`
	Observed    string          `json:"observed"`
	Reason      string          `json:"reason,omitempty"`
}

// Unjudged is a cell, or a check of it, that was not judged.
type Unjudged struct {
	Ref
	Reason string `json:"reason"`
}

// Proved reports whether something held, and nothing else was said.
func (f Finding) Proved() bool {
	return f.Checks > 0 && len(f.Against)+len(f.Ambiguous)+len(f.Unjudged) == 0
}

// Statement returns what the checks that serve a statement say of it. Other
// checks of the same cells say nothing.
func Statement(id string, cells []Cell) Finding {
	f := Finding{Of: id}
	for _, c := range cells {
		for _, check := range c.Serving(id) {
			switch {
			case check.ID != "":
				f.add(c, check)
			case c.Outcome != reports.NotApplicable:
				f.Unjudged = append(f.Unjudged, Unjudged{Ref: c.Ref(), Reason: cmp.Or(c.Reason, "it has no check of the requirement")})
			}
		}
	}
	return f
}

// Whole returns what all checks of one cell say, over all runs of it.
func Whole(id string, cells []Cell) Finding {
	f := Finding{Of: id}
	for _, c := range cells {
		if c.ID != id {
			continue
		}
		for _, check := range c.Checks {
			f.add(c, check)
		}
		if len(c.Checks) == 0 && c.Outcome != reports.NotApplicable {
			f.Unjudged = append(f.Unjudged, Unjudged{Ref: c.Ref(), Reason: cmp.Or(c.Reason, "it has no checks")})
		}
	}
	return f
}

func (f *Finding) add(c Cell, check reports.Check) {
	ref := c.Ref()
	switch {
	case check.Outcome == reports.NotApplicable:
	case check.Outcome == reports.Pass, check.Outcome == reports.UnexpectedPass: // what was known to be wrong holds now
		if f.held == nil {
			f.held = make(map[[2]string]bool)
		}
		f.held[[2]string{c.ID, check.ID}] = true
		f.Checks = len(f.held)
		if !slices.Contains(f.In, ref) {
			f.In = append(f.In, ref)
		}
	case check.Outcome == reports.Ambiguous:
		f.Ambiguous = append(f.Ambiguous, contradiction(ref, check))
	case check.Outcome.Judged():
		f.Against = append(f.Against, contradiction(ref, check))
	default:
		f.Unjudged = append(f.Unjudged, Unjudged{Ref: ref, Reason: check.ID + ": " + cmp.Or(check.Reason, string(check.Outcome))})
	}
}

func contradiction(ref Ref, check reports.Check) Contradiction {
	return Contradiction{
		Ref: ref, Check: check.ID, Requirement: check.Requirement, Came: check.Outcome,
		Expected: check.Expected, Observed: check.Observed, Reason: check.Reason,
	}
}
