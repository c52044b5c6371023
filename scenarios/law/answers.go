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
	breach:    func(_ *Course, o Object) string { return o.firstAnswer(Failed) },
}

var accepts = Law{
	Breach:    Refused,
	Statement: "A change that was possible before is possible now.",
	Source:    changes + ", Backward compatibility gotchas",
	proof:     true,
	breach:    func(_ *Course, o Object) string { return o.firstAnswer(Refused) },
}

// firstAnswer is the text of the first answer that breaks a law, and empty if there is none.
func (o Object) firstAnswer(breach string) string {
	for _, a := range o.Answers {
		if a.Breach() == breach {
			return a.Off.Text
		}
	}
	return ""
}

// Breach names the law that an answer breaks, and nothing if there is none.
func (a Answer) Breach() string {
	isOther := a.Verb == Creates || len(a.Without) > 0 // another value than that which is stored, which may be refused
	switch {
	case a.Off.Code >= 500 && a.On.Code < 500:
		return Failed
	case !isOther && a.On.Text == "" && a.Off.Text != "" && a.Off.Code < 500 && !a.Off.unserved() && !a.busy():
		return Refused
	default:
		return ""
	}
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
