package story

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports/story"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// failing are the expressions of the checks that failed.
func (t *teller) failing() (expressions []string) {
	failed := failed(t.in.Result)
	for _, s := range t.in.Cell.Steps {
		checks, _ := s.Action.(plan.Checks)
		for _, c := range checks.Checks {
			if failed[c.ID] {
				expressions = append(expressions, c.Observe)
			}
		}
	}
	return expressions
}

// about are the names in the expressions of the checks that failed: of pods,
// nodes and containers.
func (t *teller) about() (names []string) {
	for _, expression := range t.failing() {
		for _, quoted := range key.FindAllStringSubmatch(expression, -1) {
			names = append(names, nameIn(quoted[1]))
		}
	}
	return names
}

// key is a key of what expressions see: pods["web"], connections["web/app"].
var key = regexp.MustCompile(`\["([^"]+)"\]`)

// nameIn is the pod or the object that a key names.
func nameIn(key string) string {
	parts := strings.Split(key, "/")
	switch len(parts) {
	case 2: // of a container, or of an object that has no namespace
		return parts[0]
	default:
		return parts[len(parts)-1]
	}
}

// word is a text in an expression, or a part of one: c.name == "app", "web/app".
var word = regexp.MustCompile(`[^"/]+`)

// words are the texts in the expressions of the checks that failed, of which some may
// be names of containers.
func (t *teller) words() (all []string) {
	for _, expression := range t.failing() {
		for i, quoted := range strings.Split(expression, `"`) {
			if i%2 == 1 {
				all = append(all, word.FindAllString(quoted, -1)...)
			}
		}
	}
	return all
}

// concerned tells which attempts a check that failed is about: those of its pod, and
// if it names containers of the pod, those of them. Where none names a pod, it is
// those that failed.
func (t *teller) concerned(attempts []story.Attempt) func(story.Attempt) bool {
	pods, words := t.about(), t.words()
	if len(pods) == 0 {
		return func(a story.Attempt) bool { return a.Tone == story.Bad }
	}
	named := func(a story.Attempt) bool {
		return slices.ContainsFunc(words, func(name string) bool { return isOf(a, name) })
	}
	narrow := make(map[string]bool) // the pods of which containers are named
	for _, a := range attempts {
		narrow[podOf(a.Container)] = narrow[podOf(a.Container)] || named(a)
	}
	return func(a story.Attempt) bool {
		pod := podOf(a.Container)
		return slices.Contains(pods, path.Base(pod)) && (named(a) || !narrow[pod])
	}
}

// isOf reports whether an attempt is a container's: it was asked, or its probe asks.
func isOf(a story.Attempt, container string) bool {
	by := strings.ReplaceAll(a.By, ",", " ") + " "
	return path.Base(a.Container) == container || strings.Contains(by, " of "+container+" ")
}
