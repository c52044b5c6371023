package reports_test

import (
	"testing"

	"github.com/skewrig/skewrig/reports"
)

// TestTwins: beside a check that fails is the one that is most like it and passes.
func TestTwins(t *testing.T) {
	t.Parallel()
	const expected = `at once: pods["web"].spec.livenessProbe.protocol == "HTTP2"`
	check := func(id, requirement string, outcome reports.Outcome, expected string) reports.Check {
		return reports.Check{ID: id, Requirement: requirement, Outcome: outcome, Expected: expected}
	}
	red := check("red", "K/kept", reports.Fail, expected)
	for name, tc := range map[string]struct {
		others []reports.Check
		want   string
	}{
		"another pod":                {[]reports.Check{check("a", "K/other", reports.Pass, `at once: pods["db"].spec.livenessProbe.protocol == "HTTP2"`)}, "a"},
		"another field":              {[]reports.Check{check("a", "K/other", reports.Pass, `at once: pods["web"].spec.readinessProbe.protocol == "HTTP2"`)}, ""},
		"of the same requirement":    {[]reports.Check{check("a", "K/kept", reports.Pass, `at once: pods["web"].spec.readinessProbe.protocol == "HTTP2"`)}, "a"},
		"the same before":            {[]reports.Check{check("a", "K/kept", reports.Pass, expected)}, "a"},
		"it fails as well":           {[]reports.Check{check("a", "K/kept", reports.Fail, `at once: pods["db"].spec.livenessProbe.protocol == "HTTP2"`)}, ""},
		"three values":               {[]reports.Check{check("a", "K/other", reports.Pass, `for 1s: pods["a"].spec.livenessProbe.protocol == "b"`)}, ""},
		"the most like it":           {[]reports.Check{check("a", "K/kept", reports.Pass, `at once: pods.size() == 1`), check("b", "K/other", reports.Pass, `at once: pods["db"].spec.livenessProbe.protocol == "HTTP2"`)}, "b"},
		"of no requirement, no text": {[]reports.Check{check("a", "", reports.Pass, "")}, ""},
	} {
		if got := reports.ClosestCheck(reports.Cell{Checks: append([]reports.Check{red}, tc.others...)}, red); got.ID != tc.want {
			t.Errorf("%s: the twin is %q, want %q", name, got.ID, tc.want)
		}
	}
}
