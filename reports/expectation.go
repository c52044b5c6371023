package reports

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
)

// Assertion is what a check of a scenario asserts, as data. Exactly one of Is, Must and Times says what must hold:
// Times in the modes "at most" and "at least".
type Assertion struct {
	// Mode says when it must hold.
	Mode record.Mode `json:"mode"`
	// Seconds is how long it is watched. If unset, it is evaluated once.
	Seconds float64 `json:"seconds,omitempty"`
	// Observe is an expression in CEL over the record.
	Observe string `json:"observe"`
	// Is is the wanted value, as JSON.
	Is string `json:"is,omitempty"`
	// Must is an expression in CEL, with "it" bound to what was observed.
	Must string `json:"must,omitempty"`
	// Times is by how much the number may grow at most, or must grow at least.
	Times int `json:"times,omitempty"`
}

// expectation returns what a check with the assertion expects.
func (a Assertion) expectation() Expectation {
	e := Expectation{Mode: a.Mode, Span: time.Duration(a.Seconds * float64(time.Second)), Observe: a.Observe, Times: a.Times, Exact: true}
	switch {
	case a.Mode.Grows():
		e.Relation, e.Wanted = Grows, fmt.Sprintf("by %d %s", a.Times, a.Mode)
	case a.Must != "":
		e.Relation, e.Wanted = Satisfies, a.Must
	default:
		e.Relation, e.Wanted = Equals, a.Is
	}
	return e
}

// Expectation is what a check expects.
type Expectation struct {
	// Mode is when it must hold, and Span for how long, or within what time. If Mode is unset, the
	// sentence does not say when.
	Mode record.Mode
	Span time.Duration
	// Times is by how much a number may grow, or has to.
	Times int
	// Observe is an expression. Wanted is what its value must be: of the relation ==, a value as JSON; of satisfies, a
	// condition on it; and of grows, by how much it may grow.
	Observe, Relation, Wanted string
	// Exact is false if the expressions were read from a sentence that may lack parts of them. They then have another
	// value.
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

var growthWanted = regexp.MustCompile(`^by (\d+) at (most|least)$`)

// windows are the modes of checks by the words before the length of their windows.
var windows = map[string]record.Mode{
	"within": record.Eventually, "always for": record.Always, "never for": record.Never, "for": record.AtMost,
}

// window returns when a check must hold, of its description's beginning: "within 20s".
func window(when string) (record.Mode, time.Duration) {
	if when == "at once" {
		return record.Now, 0
	}
	at := max(0, strings.LastIndexByte(when, ' '))
	span, err := time.ParseDuration(strings.TrimSpace(when[at:]))
	if err != nil {
		return "", 0
	}
	return windows[when[:at]], span
}

// Expectation returns what the check expects, and false if its value is compared with nothing. Reports of skewrig
// before Asserts have it in a sentence, which is read here and nowhere else.
func (c Check) Expectation() (e Expectation, is bool) {
	if c.Asserts != (Assertion{}) {
		return c.Asserts.expectation(), true
	}
	when, what, is := strings.Cut(c.Expected, ": ")
	if !is {
		return e, false
	}
	code := maskStrings(what)
	e.Mode, e.Span = window(when)
	e.Exact = !strings.Contains(code, "//") && !strings.Contains(what, `"""`) && !strings.Contains(what, "'''")
	for _, relation := range []string{Satisfies, Grows, Equals} {
		// No expression has one of these words, and no JSON a == outside of its strings.
		at := strings.LastIndex(code, " "+relation+" ")
		if at < 0 {
			continue
		}
		e.Observe, e.Relation, e.Wanted = what[:at], relation, what[at+len(relation)+2:]
		return e, relation == Satisfies || relation == Grows && e.grows() || relation == Equals && json.Valid([]byte(e.Wanted))
	}
	return e, false
}

// grows reads by how much a number may grow, or has to, and reports whether that is known.
func (e *Expectation) grows() bool {
	found := growthWanted.FindStringSubmatch(e.Wanted)
	if found == nil {
		return false
	}
	if found[2] == "least" {
		e.Mode = record.AtLeast
	}
	var err error
	e.Times, err = strconv.Atoi(found[1])
	return err == nil
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
