package spec

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
)

// checkID is what the id of a check is made of.
var checkID = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_.-]*$`)

func (v *validator) checkChecks() {
	seen := make(map[string]bool)
	for i, step := range v.scenario.Steps {
		for j, check := range step.Checks {
			at := fmt.Sprintf("%s.checks[%d]", stepPath(i), j)
			if v.clean(at + ".id") {
				v.checkCheckID(at+".id", check.ID, seen)
			}
			v.checkTexts(at, check)
			v.checkOneOf(at)
			v.checkWhen(at, check)
		}
	}
}

func (v *validator) checkCheckID(field, id string, seen map[string]bool) {
	if !checkID.MatchString(id) || len(id) > maxPart {
		v.report(field, "%s can't be the id of a check: use letters, digits, - _ and .", quote(id))
	}
	if seen[id] {
		v.report(field, "the scenario has a check %s already", quote(id))
	}
	seen[id] = true
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
	switch found := v.present(at, []string{"is", "must"}); len(found) {
	case 0:
		v.report(at, "the check doesn't say what must hold: give it is or must")
	case 2:
		v.report(at+".must", "a check has is or must, and this one has both")
	}
	if found := v.present(at, []string{"eventually", "always"}); len(found) == 2 {
		v.report(at+".always", "a check has eventually or always, and this one has both")
	}
}

func (v *validator) checkWhen(at string, check Check) {
	v.checkDuration(at+".eventually", check.Eventually)
	if check.Always == nil || !v.clean(at+".always") {
		return
	}
	always := at + ".always"
	_, periods, err := check.Always.parse()
	ofGiven := v.has(always + ".of")
	switch {
	case err != nil:
		v.report(always+".for", "%v", err)
	case periods == 0 && ofGiven:
		v.report(always+".of", "of goes with a count of probe periods only, and %s is none", check.Always.For)
	case periods > 0 && !ofGiven:
		v.report(always, "of is missing: the container whose probe periods count")
	default:
		v.checkLength(always, *check.Always)
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
