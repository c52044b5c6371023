package story

import (
	"fmt"
	"strings"
	"time"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/check"
	"github.com/skewrig/skewrig/scenarios/plan"
)

const (
	// instant is how short a window may be to be a moment, in seconds.
	instant = 0.05
	// lengthened is how much longer than planned a window must be to say so, in
	// seconds. What must happen in time has the time that the machine needs for it:
	// that of a machine which is busy with other things does not count.
	lengthened = 0.1
)

// explain says of each check that was looked at what came of its window, and of
// those that do not hold what their values were made of.
func (t *teller) explain() {
	results := make(map[string]reports.Check)
	for _, c := range t.in.Result.Checks {
		results[c.ID] = c
	}
	for i := range t.course.checks {
		c := &t.course.checks[i]
		result, judged := results[c.ID]
		if !judged {
			continue
		}
		c.Said = said(result, *c)
		one, is := described(result)
		if met, judged := isMet(result.Outcome); is && judged && !met {
			for _, part := range check.Parts(one, t.in.Events) {
				c.Parts = append(c.Parts, story.Line{What: part.Expression, Text: part.Value})
			}
		}
	}
}

// described is a check that wants true or false, as it is described: the report of a
// run has the expressions that it was judged by, whatever became of the scenario.
func described(result reports.Check) (plan.Check, bool) {
	modes := map[string]plan.Mode{"at": plan.Now, "within": plan.Eventually, "always": plan.Always, "never": plan.Never}
	when, what, _ := strings.Cut(result.Expected, ": ")
	first, _, _ := strings.Cut(when, " ")
	for _, wanted := range []bool{true, false} {
		if observe, is := strings.CutSuffix(what, fmt.Sprintf(" == %t", wanted)); is && isBool(result.Observed) && modes[first] != "" {
			return plan.Check{ID: result.ID, Observe: observe, Is: wanted, Mode: modes[first]}, true
		}
	}
	return plan.Check{}, false
}

func isBool(observed string) bool { return observed == "true" || observed == "false" }

// said is what came of a check's window, and when its value was another one than
// was expected, if that is true or false.
func said(result reports.Check, looked story.Check) string {
	took := max(0, looked.To-looked.From)
	words := windowed(result, took)
	if met, judged := isMet(result.Outcome); judged && !met && isBool(result.Observed) {
		wanted := map[string]string{"true": "false", "false": "true"}[result.Observed]
		value := fmt.Sprintf("expected %s, observed %s at %.1f s", wanted, result.Observed, looked.To)
		return strings.TrimSuffix(value+"; "+words, "; ")
	}
	return words
}

// isMet reports whether what was expected was observed, as far as that was judged.
// A flaky check was, in other runs.
func isMet(o reports.Outcome) (met, judged bool) {
	switch o {
	case reports.Pass, reports.UnexpectedPass:
		return true, true
	case reports.Fail, reports.ExpectedFail:
		return false, true
	default:
		return false, false
	}
}

// windowed is what came of a window that took so many seconds: one ends early when
// nothing that happens later can matter. Of a check that was looked at once there
// is nothing to say.
func windowed(result reports.Check, took float64) string {
	mode, span := windowOf(result.Expected)
	if mode == "" {
		return ""
	}
	met, judged := isMet(result.Outcome)
	long := fmt.Sprintf("%g s", span.Seconds())
	over := mode == "within" && took >= span.Seconds()+lengthened
	if over && judged && !met {
		return fmt.Sprintf("did not come true in %.1f s (the window of %s is longer on a busy machine)", took, long)
	}
	if over {
		long += ", which is longer on a busy machine"
	}
	early := fmt.Sprintf("after %.1f s; the window was %s", took, long)
	if took < instant {
		early = "at once; the window was " + long
	}
	switch {
	case !judged:
		return fmt.Sprintf("looked at for %.1f s; the window was %s", took, long)
	case mode == "within" && met:
		return "came true " + early
	case mode == "within":
		return "did not come true in " + long
	case met:
		return "held for all of " + long
	default:
		return "no longer held " + early
	}
}

// windowOf reads when a check must hold from how it is described: see
// plan.Check.Describe.
func windowOf(expected string) (mode string, span time.Duration) {
	when, _, _ := strings.Cut(expected, ": ")
	words := strings.Fields(when)
	if len(words) < 2 {
		return "", 0
	}
	span, err := time.ParseDuration(words[len(words)-1])
	if err != nil {
		return "", 0
	}
	return words[0], span
}
