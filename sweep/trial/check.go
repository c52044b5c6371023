package trial

import (
	"fmt"

	"github.com/skewrig/skewrig/scenarios/law"
)

// checks hold if what a finding says is not so. In the control a new object has the field.
func (i Item) checks(what string, a Setting) []law.Check {
	if program, is := ProgramOf(what); is {
		return []law.Check{endCheck(a.Transition.running(program), a.logged(what) != "")}
	}
	return []law.Check{law.CheckOf(what, i.judged("default", nil), a.IsControl())}
}

// endCheck holds if a component does not end by itself, or, if it continues after a panic and only its log says so,
// does not panic.
func endCheck(component string, logged bool) law.Check {
	if logged {
		return law.Check{ID: "panics", Observe: "logs['panics']", Is: []string{}}
	}
	ends := fmt.Sprintf("components['%s'].exits.filter(e, !e.asked).size()", component)
	return law.Check{ID: "ends", Observe: ends, Is: 0, Always: map[string]string{"for": "15s"}}
}
