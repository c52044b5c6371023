package reports

import (
	"math"
	"regexp"
)

// maxLiterals is in how many texts or numbers a check may differ from its twin, if they are of
// different requirements.
const maxLiterals = 2

// literal is a text or a number in an expression, token what an expression is made of.
var (
	literal = regexp.MustCompile(`^(?:"[^"]*"|\d.*|true|false)$`)
	token   = regexp.MustCompile(`"[^"]*"|[A-Za-z0-9_.]+|\S`)
)

// ClosestCheck returns the check of a cell that passes and is most like another one: it is of the same
// requirement, or expects the same but for a text or a number or two. It is the zero value if
// there is none.
func ClosestCheck(c Cell, check Check) (twin Check) {
	own, least := token.FindAllString(check.Expected, -1), math.MaxInt
	for _, k := range c.Checks {
		other := token.FindAllString(k.Expected, -1)
		sameRequirement := k.Requirement != "" && k.Requirement == check.Requirement
		if k.Outcome != Pass || k.Expected == "" || !sameRequirement && !isLike(own, other) {
			continue
		}
		if n := apart(own, other); n < least {
			least, twin = n, k
		}
	}
	return twin
}

// isLike reports whether two expressions differ, and in nothing but a text or a number or two.
func isLike(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	n := 0
	for i := range a {
		switch {
		case a[i] == b[i]:
		case literal.MatchString(a[i]) && literal.MatchString(b[i]):
			n++
		default:
			return false
		}
	}
	return 0 < n && n <= maxLiterals
}

// apart is how many tokens are in one of two expressions only.
func apart(a, b []string) (n int) {
	more := make(map[string]int)
	for _, t := range a {
		more[t]++
	}
	for _, t := range b {
		more[t]--
	}
	for _, count := range more {
		n += max(count, -count)
	}
	return n
}
