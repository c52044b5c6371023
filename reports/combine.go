package reports

import (
	"cmp"
	"fmt"
	"slices"
)

// Worst returns the most severe of some outcomes, and Unknown if there are
// none: nothing was seen, so nothing is claimed. A value that is not an outcome
// counts as Unknown.
func Worst(outcomes ...Outcome) Outcome {
	if len(outcomes) == 0 {
		return Unknown
	}
	worst := NotApplicable
	for _, o := range outcomes {
		if !o.Valid() {
			o = Unknown
		}
		if o.Compare(worst) > 0 {
			worst = o
		}
	}
	return worst
}

// Repeated returns the outcome of a check that was judged in several runs of
// the same cell, and the reason where they disagree. A check that failed in k
// of the n runs that judged it and passed in the others is Flaky; otherwise the
// most severe run decides, because a repetition excuses nothing.
func Repeated(runs ...Outcome) (Outcome, string) {
	var judged, failed int
	for _, o := range runs {
		if o.Judged() {
			judged++
		}
		if o.failed() {
			failed++
		}
	}
	if failed > 0 && failed < judged {
		return Flaky, fmt.Sprintf("failed in %d of %d runs", failed, judged)
	}
	return Worst(runs...), ""
}

// failed reports whether a check failed, be that known or not.
func (o Outcome) failed() bool { return o == Fail || o == Flaky || o.Recorded() }

// Settled returns the cell with its outcome computed:
//
//   - What a runner said of the cell as a whole (HarnessError, Unknown or
//     NotTestable), and no combination of its checks gives, stands and
//     overrules the checks: see Overruled, which says so in every case.
//   - Otherwise the most severe check decides.
//   - A cell without checks is Unknown, unless the runner said why there are
//     none (as above, or NotApplicable).
//   - NotApplicable needs a reason. Without one it is Unknown. A cell of which
//     the runner said NotApplicable lends its reason to its checks, and cannot
//     hide one with another outcome.
//   - All of that holds for each of a cell's Runs. The cell then follows from
//     them: see Join.
//
// Settled is idempotent.
func (c Cell) Settled() Cell {
	if len(c.Runs) > 0 {
		return c.joined()
	}
	c = c.clone()
	for i, check := range c.Checks {
		if check.Outcome == NotApplicable && check.Reason == "" {
			c.Checks[i] = c.reasonedNotApplicable(check)
		}
	}
	if len(c.Checks) == 0 {
		return c.settledWithoutChecks()
	}
	if c.Outcome.preventsJudgement() && c.Outcome != c.worstCheck() {
		c.overruleChecks()
	}
	decided := c.worstCheck()
	if c.Outcome == NotApplicable && decided != NotApplicable {
		c.Reason = ""
	}
	c.Outcome = decided
	return c
}

// Overruled returns the cell with outcome and reason said of the whole cell and
// of each check: where the rig cannot be trusted, neither can what it saw. Only
// a check that was itself not judged, for a cause at least as severe, is left
// as it is. What a check was on its own is kept in its reason, so that no
// evidence is lost.
//
// The outcome is HarnessError, Unknown or NotTestable. Any other is a mistake
// of the caller, and counts as HarnessError.
func (c Cell) Overruled(outcome Outcome, reason string) Cell {
	if !outcome.preventsJudgement() {
		outcome, reason = HarnessError, because(fmt.Sprintf("overruled as %q", outcome), reason)
	}
	c = c.clone()
	c.Outcome, c.Reason = outcome, reason
	c.overruleChecks()
	return c.Settled()
}

// preventsJudgement reports whether o is something that a runner says of a
// whole cell, and that makes its checks worth nothing.
func (o Outcome) preventsJudgement() bool {
	return o == NotTestable || o == Unknown || o == HarnessError
}

func (c Cell) worstCheck() Outcome {
	return Worst(ofChecks(c.Checks)...)
}

func (c Cell) overruleChecks() {
	for i, check := range c.Checks {
		if check.Outcome.preventsJudgement() && check.Outcome.Compare(c.Outcome) >= 0 {
			continue
		}
		reason := because(fmt.Sprintf("the cell as a whole is %s", c.Outcome), c.Reason) + "; " +
			because(fmt.Sprintf("on its own the check was %s", check.Outcome), check.Reason)
		c.Checks[i].Outcome, c.Checks[i].Reason = c.Outcome, reason
	}
}

func (c Cell) reasonedNotApplicable(check Check) Check {
	if c.Outcome == NotApplicable && c.Reason != "" {
		check.Reason = c.Reason
		return check
	}
	check.Outcome = Unknown
	check.Reason = "marked as not applicable, but without a reason"
	return check
}

func (c Cell) settledWithoutChecks() Cell {
	switch {
	case c.Outcome.preventsJudgement():
	case c.Outcome == NotApplicable && c.Reason != "":
	case c.Outcome == NotApplicable:
		c.Outcome, c.Reason = Unknown, "marked as not applicable, but without a reason"
	case c.Outcome == "":
		c.Outcome, c.Reason = Unknown, because("no check was judged", c.Reason)
	default:
		said := fmt.Sprintf("marked as %s, but no check was judged", c.Outcome)
		c.Outcome, c.Reason = Unknown, because(said, c.Reason)
	}
	return c
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// explained returns a settled cell with a reason taken from the first of the
// checks that decided, if it has none of its own.
func (c Cell) explained() Cell {
	if c.Reason != "" || c.Outcome == Pass {
		return c
	}
	for _, check := range c.Checks {
		if check.Outcome == c.Outcome {
			c.Reason = ReasonOf(check)
			return c
		}
	}
	return c
}

// ReasonOf returns the reason of a cell that a check decided, if the cell has none
// of its own.
func ReasonOf(c Check) string { return c.ID + ": " + c.why() }

func (c Check) why() string {
	if c.Reason != "" {
		return c.Reason
	}
	return fmt.Sprintf("expected %s, observed %s", cmp.Or(c.Expected, "nothing"), cmp.Or(c.Observed, "nothing"))
}

// RequirementOutcome joins settled cells with a requirement, check by check,
// and returns what they say of it together with the ids of the cells that serve
// it. Only the checks that name the requirement count: another check of the
// same cell says nothing about it. A cell that promised to serve it and has no
// such check counts as what prevented the check, or as Unknown. A requirement
// that no cell serves is Unknown.
func RequirementOutcome(id string, cells []Cell) (Outcome, []string) {
	var outcomes []Outcome
	serving := []string{}
	for _, c := range cells {
		if served := c.Serving(id); len(served) > 0 {
			outcomes = append(outcomes, ofChecks(served)...)
			serving = append(serving, c.ID)
		}
	}
	slices.Sort(serving)
	return Worst(outcomes...), serving
}

// Serving returns the checks with which a cell serves a requirement. One that promised to serve it
// and has no such check has one without an id, which says what prevented it.
func (c Cell) Serving(requirement string) []Check {
	checks := Only(c.Checks, func(check Check) bool { return check.Requirement == requirement })
	switch {
	case len(checks) > 0 || !slices.Contains(c.Requirements, requirement):
		return checks
	case len(c.Checks) == 0 || c.Outcome.preventsJudgement():
		return []Check{{Requirement: requirement, Outcome: c.Outcome, Reason: c.Reason}}
	default:
		return []Check{{Requirement: requirement, Outcome: Unknown, Reason: c.Reason}}
	}
}

// Summarize counts settled cells by outcome, those of the reference apart.
func Summarize(cells []Cell) Summary {
	return summarize(cells, Cell.OfReference)
}

func summarize(cells []Cell, apart func(Cell) bool) Summary {
	s := Summary{Outcomes: map[Outcome]int{}}
	for _, o := range Outcomes() {
		s.Outcomes[o] = 0
	}
	for _, c := range cells {
		switch {
		case !apart(c):
			s.Cells++
			s.Outcomes[c.Outcome]++
		case c.Outcome.Expected():
			s.Reference.Expected++
			s.Reference.Cells++
		default:
			s.Reference.Cells++
		}
	}
	return s
}

// OfReference reports whether the subject of a cell is the project's own reference,
// and no release. A report of an earlier skewrig says so with its axes only.
func (c Cell) OfReference() bool { return c.Reference || c.Axes["kubelet"] == "reference" }
