package law

import (
	"net/http"
	"strings"
)

// Breaches by an API server that answers otherwise than before.
const (
	Failed  = "the API server fails"
	Refused = "it is refused"
)

var answers = Law{
	Breach:    Failed,
	Statement: "No request is answered with 500 or more.",
	Source:    conventions + ", HTTP Status codes",
	proof:     true,
	breach: func(_ *Course, o Object) string {
		for _, a := range o.Answers {
			if a.Off.Code >= 500 && a.On.Code < 500 {
				return a.Off.Text
			}
		}
		return ""
	},
}

var accepts = Law{
	Breach:    Refused,
	Statement: "A change that was possible before is possible now.",
	Source:    changes + ", Backward compatibility gotchas",
	proof:     true,
	breach: func(_ *Course, o Object) string {
		for _, a := range o.Answers {
			isOther := a.Verb == Creates || len(a.Without) > 0 // another value than that which is stored, which may be refused
			if !isOther && a.On.Text == "" && a.Off.Text != "" && a.Off.Code < 500 && !a.Off.unserved() && !a.busy() {
				return a.Off.Text
			}
		}
		return ""
	},
}

// busy reports whether it is said that there are too many requests, or that others wrote the object meanwhile. Of
// an apply, a conflict says that a field is another one's.
func (a Answer) busy() bool {
	return a.Off.Code == http.StatusTooManyRequests || a.Off.Code == http.StatusConflict && a.Verb != Applies
}

// unserved reports whether it is said that the whole resource is not served: a gate may be that of an API.
func (s Said) unserved() bool {
	return s.Code == http.StatusNotFound && strings.Contains(s.Text, "could not find the requested resource")
}
