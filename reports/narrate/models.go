package narrate

import "regexp"

// models are the oracles that compare a release with a model of its code, each with what expressions name
// that look at the same.
var models = []struct {
	oracle string
	same   *regexp.Regexp
}{
	{"oracle:wire-mode", regexp.MustCompile(`\b(connections|containers)\[|\.ready\b|restartCount`)},
	{"oracle:field-survival", regexp.MustCompile(`\.spec\b|\b(requests|objects|history)\[`)},
	{"oracle:watchdog-decisions", regexp.MustCompile(`\b(dependents|calls)\b`)},
}

// models returns the oracles that look at what the check looks at.
func (t failedCheck) models() (oracles []string) {
	for _, m := range models {
		if m.same.MatchString(t.Expected) {
			oracles = append(oracles, m.oracle)
		}
	}
	return oracles
}
