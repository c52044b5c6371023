package archtest

import (
	_ "embed"
	"strings"
	"testing"
)

//go:embed reaches.txt
var reaches string

// TestNothingReachesWhatItMustNot looks at all that a package is linked with, not
// only at what it imports itself.
func TestNothingReachesWhatItMustNot(t *testing.T) {
	t.Parallel()
	rules := forbidden(reaches)
	held := make(map[rule]bool)
	for _, p := range list(t) {
		for _, dependency := range p.Deps {
			if r, is := reached(rules, p.ImportPath, dependency); is {
				t.Errorf("%s reaches %s, which reaches.txt forbids (go list -deps ./%s)", p.ImportPath, dependency, r.into)
			}
		}
		for _, r := range rules {
			held[r] = held[r] || below(strings.TrimPrefix(p.ImportPath, module), r.into)
		}
	}
	for _, r := range rules {
		if !held[r] {
			t.Errorf("reaches.txt is about %s, and there is no such package", r.into)
		}
	}
}

func TestTheTableOfWhatIsReachedForbids(t *testing.T) {
	t.Parallel()
	rules := forbidden("scenarios/check ! k8s.io/client-go harness/cluster # a comment")
	for dependency, want := range map[string]bool{
		"k8s.io/client-go/rest": true, "k8s.io/client-gone": false, module + "harness/cluster": true, module + "harness/clock": false,
	} {
		if _, is := reached(rules, module+"scenarios/check", dependency); is != want {
			t.Errorf("scenarios/check reaches %s: forbidden: %t, want %t", dependency, is, want)
		}
		if _, is := reached(rules, module+"scenarios/checks", dependency); is {
			t.Errorf("scenarios/checks must not reach %s", dependency)
		}
	}
}

// forbidden reads a table of what must not be reached: from is what, into is who.
func forbidden(text string) (rules []rule) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		folders, dependencies, _ := strings.Cut(line, "!")
		for into := range strings.FieldsSeq(folders) {
			for from := range strings.FieldsSeq(dependencies) {
				rules = append(rules, rule{from: from, into: into})
			}
		}
	}
	return rules
}

// reached returns the rule that forbids a package a dependency, if there is one.
func reached(rules []rule, pkg, dependency string) (rule, bool) {
	for _, r := range rules {
		if below(strings.TrimPrefix(pkg, module), r.into) && below(strings.TrimPrefix(dependency, module), r.from) {
			return r, true
		}
	}
	return rule{}, false
}
