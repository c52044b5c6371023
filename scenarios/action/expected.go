package action

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Expected is how the API server must answer a step that creates or patches. A step
// that doesn't say has no expectation: it ends the cell if it is refused.
type Expected struct {
	Step     string         `json:"-"` // its name
	Line     int            `json:"-"` // in the scenario's file
	Accepted bool           `json:"-"`
	Rejected *spec.Rejected `json:"-"`
}

// expected returns the expectation of a step.
func expected(s Scene) Expected {
	return Expected{Step: s.Name, Line: s.Line(""), Accepted: s.Step.Accepted, Rejected: s.Step.Rejected}
}

// judged reports whether a refusal is for a check to judge.
func (e Expected) judged() bool { return e.Accepted || e.Rejected != nil }

// met reports whether an answer is of the kind that is expected.
func (e Expected) met(code int) bool { return !e.judged() || e.Accepted == (code < 400) }

// notInID is what an id of a check can't have.
var notInID = regexp.MustCompile(`[^a-zA-Z0-9_.-]+`)

// idOf is the name of a step as a part of the id of a check.
func idOf(step string) string { return notInID.ReplaceAllString(step, "-") }

// Checked implements Checker: the expectation is a check, whose id is the name of the
// step, with - for what an id can't have, and -accepted or -rejected.
func (e Expected) Checked() []Check {
	name, rejected := strconv.Quote(e.Step), "it.code >= 400"
	if e.Rejected != nil && e.Rejected.Code != 0 {
		rejected = fmt.Sprintf("it.code == %d", e.Rejected.Code)
	}
	observe := fmt.Sprintf(`{"code": requests[%s].code, "message": requests[%s].?message.orValue("")}`, name, name)
	return e.checks(observe, "it.code < 400", rejected, "message")
}

// checks are the expectation as a check of what is observed: what it must be if the step is
// accepted and if it is rejected, and the field that has the message. There is none if nothing is
// expected.
func (e Expected) checks(observe, accepted, rejected, message string) []Check {
	if !e.judged() {
		return nil
	}
	check := Check{ID: idOf(e.Step) + "-accepted", Mode: record.Now, Line: e.Line, Must: accepted, Observe: observe}
	if e.Rejected != nil {
		check.ID, check.Must = idOf(e.Step)+"-rejected", rejected
		if e.Rejected.Message != "" {
			check.Must += fmt.Sprintf(" && it.%s.matches(%s)", message, strconv.Quote(e.Rejected.Message))
		}
	}
	return []Check{check}
}

// judge has the expectation judged on the last answer.
func (e Expected) judge(ctx context.Context, rig Rig) error { return watch(ctx, rig, e.Checked()) }

// watch has checks watched, if there are any.
func watch(ctx context.Context, rig Rig, checks []Check) error {
	if len(checks) == 0 {
		return nil
	}
	return rig.Watch(ctx, Checks{Checks: checks})
}

func (e Expected) describe() string {
	switch {
	case e.Accepted:
		return ", which the API server must accept"
	case e.Rejected != nil && e.Rejected.Code != 0:
		return fmt.Sprintf(", which the API server must refuse with code %d", e.Rejected.Code)
	case e.Rejected != nil:
		return ", which the API server must refuse"
	}
	return ""
}
