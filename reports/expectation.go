package reports

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Expectation is what a check expects: the parts of its description.
type Expectation struct {
	// Window is when it must hold: "within 20s".
	Window string
	// Observe is an expression. Wanted is what its value must be: of the relation ==, a value as JSON; of satisfies, a
	// condition on it; and of grows, by how much it may grow.
	Observe, Relation, Wanted string
	// Exact is false if the description may lack parts of the expressions. They then have another value.
	Exact bool
}

// WantsBool reports whether the value must be true, or must be false.
func (e Expectation) WantsBool() bool { return e.Relation == Equals && IsBool(e.Wanted) }

// IsBool reports whether a value is true or false, as JSON.
func IsBool(value string) bool { return value == "true" || value == "false" }

// Relations of expectations.
const (
	Equals    = "=="
	Satisfies = "satisfies"
	Grows     = "grows"
)

var growthWanted = regexp.MustCompile(`^by \d+ at (most|least)$`)

// Expectation returns the parts of what the check expects, and false if there are none.
func (c Check) Expectation() (e Expectation, is bool) {
	window, what, is := strings.Cut(c.Expected, ": ")
	if !is {
		return e, false
	}
	code := maskStrings(what)
	e = Expectation{Window: window, Exact: !strings.Contains(code, "//") && !strings.Contains(what, `"""`) && !strings.Contains(what, "'''")}
	for _, relation := range []string{Satisfies, Grows, Equals} {
		// No expression has one of these words, and no JSON a == outside of its strings.
		at := strings.LastIndex(code, " "+relation+" ")
		if at < 0 {
			continue
		}
		e.Observe, e.Relation, e.Wanted = what[:at], relation, what[at+len(relation)+2:]
		return e, relation == Satisfies || relation == Grows && growthWanted.MatchString(e.Wanted) || relation == Equals && json.Valid([]byte(e.Wanted))
	}
	return e, false
}

// maskStrings returns a text of CEL with x for each byte of its strings.
func maskStrings(text string) string {
	masked := []byte(text)
	var quote byte
	for i := 0; i < len(text); i++ {
		switch in := text[i]; {
		case quote == 0 && (in == '"' || in == '\''):
			quote = in
		case quote == 0:
		case in == quote:
			quote = 0
		case in == '\\' && i+1 < len(text):
			masked[i], masked[i+1] = 'x', 'x'
			i++
		default:
			masked[i] = 'x'
		}
	}
	return string(masked)
}
