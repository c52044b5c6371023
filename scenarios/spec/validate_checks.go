package spec

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
)

// checkID is what the id of a check is made of.
var checkID = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_.-]*$`)

func (v *validator) checkChecks() {
	for i, step := range v.scenario.Steps {
		for j, check := range step.Checks {
			at := checkPath(i, j)
			if v.clean(at+".id") && (!checkID.MatchString(check.ID) || len(check.ID) > maxPart) {
				v.report(at+".id", "%s can't be the id of a check: use letters, digits, - _ and .", quote(check.ID))
			}
			v.checkTexts(at, check)
			v.checkOneOf(at)
			v.checkDuration(at+".eventually", check.Eventually)
			v.checkSpan(at, check)
		}
	}
}

func checkPath(step, check int) string { return fmt.Sprintf("%s.checks[%d]", stepPath(step), check) }

// checkApplicable reports, for the rig as it is at a step, what is wrong with
// the conditions of checks, and checks with the same id of which both apply.
func (v *validator) checkApplicable(rig *Rig, step int, seen map[string]bool) {
	for j, check := range v.scenario.Steps[step].Checks {
		at := checkPath(step, j)
		applies, err := rig.Applies(check.When, v.axes)
		if err != nil {
			v.report(at+".when", "%v", err)
		}
		if !applies || !v.clean(at+".id") {
			continue
		}
		if seen[check.ID] {
			v.report(at+".id", "the scenario has a check %s already", quote(check.ID))
		}
		seen[check.ID] = true
	}
}

func (v *validator) checkTexts(at string, check Check) {
	for _, text := range []struct{ field, value string }{
		{".requirement", check.Requirement}, {".observe", check.Observe}, {".must", check.Must},
	} {
		if v.clean(at+text.field) && strings.TrimSpace(text.value) == "" {
			v.report(at+text.field, "%s is empty", text.field[1:])
		}
	}
}

func (v *validator) checkOneOf(at string) {
	wanted, times := v.present(at, []string{"is", "must"}), v.present(at, []string{"eventually", "always", "never", "atMost"})
	grows := slices.Contains(times, "atMost")
	switch {
	case len(wanted) == 0 && !grows:
		v.report(at, "the check doesn't say what must hold: give it is, must or atMost")
	case len(wanted) == 1 && grows:
		v.report(at+"."+wanted[0], "atMost says what must hold, and this check has %s too", wanted[0])
	case len(wanted) == 2:
		v.report(at+".must", "a check has is or must, and this one has both")
	}
	if len(times) > 1 {
		v.report(at+"."+times[1], "a check has one of eventually, always, never and atMost, and this one has %s", strings.Join(times, " and "))
	}
}

func (v *validator) checkSpan(at string, check Check) {
	name, span := check.span()
	field := at + "." + name
	if name == "" || !v.clean(field) {
		return
	}
	if check.AtMost != nil && check.AtMost.Times < 0 {
		v.report(field+".times", "%d is less than none", check.AtMost.Times)
	}
	_, periods, err := span.parse()
	ofGiven := v.has(field + ".of")
	switch {
	case err != nil:
		v.report(field+".for", "%v", err)
	case periods == 0 && ofGiven:
		v.report(field+".of", "of goes with a count of probe periods only, and %s is none", span.For)
	case periods > 0 && !ofGiven:
		v.report(field, "of is missing: the container whose probe periods count")
	default:
		v.checkLength(field, span)
	}
}

func (v *validator) checkLength(at string, span Span) {
	if v.manifestsUnknown() {
		return
	}
	switch _, err := v.scenario.Length(span); {
	case errors.Is(err, errTooLong):
		v.report(at+".for", "%v", err)
	case err != nil:
		v.report(at+".of", "%v", err)
	}
}

// manifestsUnknown reports whether some manifest could not be read, so that
// nothing can be said about what isn't in them.
func (v *validator) manifestsUnknown() bool {
	for i, step := range v.scenario.Steps {
		if step.File != "" && step.FromFile == nil {
			return true
		}
		if apply := stepPath(i) + ".apply"; v.has(apply) && !v.clean(apply) {
			return true
		}
	}
	return false
}

// checkDuration reports a length of time that is written and is none.
func (v *validator) checkDuration(field string, d behavior.Duration) {
	if !v.clean(field) {
		return
	}
	if err := checkLength(time.Duration(d)); err != nil {
		v.report(field, "%v", err)
	}
}
