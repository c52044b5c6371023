package narrate

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// failing are what the checks expect that do not hold: their expressions.
func (b *builder) failing() (expressions []string) {
	for _, c := range b.in.Result.Checks {
		if isFailed(c) {
			expressions = append(expressions, c.Expected)
		}
	}
	return expressions
}

// isFailed reports whether a check does not hold, or is not known to.
func isFailed(c reports.Check) bool {
	return c.Outcome != reports.Pass && c.Outcome != reports.NotApplicable
}

// key is a key of what expressions see: pods["web"], connections["web/app"].
var key = regexp.MustCompile(`\["([^"]+)"\]`)

// namesIn are those in expressions.
func namesIn(expressions ...string) (names []string) {
	for _, expression := range expressions {
		for _, quoted := range key.FindAllStringSubmatch(expression, -1) {
			names = append(names, nameIn(quoted[1]))
		}
	}
	return names
}

// nameIn is the pod or the object that a key names.
func nameIn(key string) string {
	parts := strings.Split(key, "/")
	if len(parts) == 2 { // of a container, or of an object that has no namespace
		return parts[0]
	}
	return parts[len(parts)-1]
}

// word is a text in an expression, or a part of one: c.name == "app", "web/app".
var word = regexp.MustCompile(`[^"/]+`)

// wordsIn are the texts in expressions, of which some may be names of containers.
func wordsIn(expressions ...string) (all []string) {
	for _, expression := range expressions {
		for i, quoted := range strings.Split(expression, `"`) {
			if i%2 == 1 {
				all = append(all, word.FindAllString(quoted, -1)...)
			}
		}
	}
	return all
}

// relevant says which attempts the checks that failed are about.
func (b *builder) relevant(attempts []attempt) func(*attempt) bool {
	return relevantTo(attempts, b.failing()...)
}

// relevantTo says which attempts expressions are about: those of a pod that they name, and
// if they name containers of the pod, those of them. Where none names a pod, it is
// those that failed.
func relevantTo(attempts []attempt, expressions ...string) func(*attempt) bool {
	pods, words := namesIn(expressions...), wordsIn(expressions...)
	if len(pods) == 0 {
		return func(a *attempt) bool { return a.Tone.wrong() }
	}
	named := func(a *attempt) bool {
		return slices.ContainsFunc(words, func(name string) bool { return isOf(a, name) })
	}
	narrow := make(map[string]bool) // the pods of which containers are named
	for _, a := range attempts {
		pod := timeline.PodOf(a.Container)
		narrow[pod] = narrow[pod] || named(&a)
	}
	return func(a *attempt) bool {
		pod := timeline.PodOf(a.Container)
		return slices.Contains(pods, path.Base(pod)) && (named(a) || !narrow[pod])
	}
}

// isOf reports whether an attempt is a container's: it was asked, or its probe asks.
func isOf(a *attempt, container string) bool {
	by := strings.ReplaceAll(a.By, ",", " ") + " "
	return path.Base(a.Container) == container || strings.Contains(by, " of "+container+" ")
}
