package reports

import "testing"

func TestReproductionOf(t *testing.T) {
	t.Parallel()
	const counts = `for 15s: history.filter(name, name.startsWith("replicasets/default/web-")).size() grows by `
	check := func(expected, observed string) Check {
		return Check{ID: "stays", Requirement: "regressions/kubernetes-1", Outcome: ExpectedFail, Expected: expected, Observed: observed, Finding: "bug"}
	}
	const counted, observed = "{number} replicasets, at most {limit} expected", "the pod was not ready ({observed})"
	for want, c := range map[string]struct {
		seen   string
		checks []Check
	}{
		"kubernetes#1: 3 replicasets, at most 2 expected": {counted, []Check{check(counts+"1 at most", "2 more, from 1 to 3")}},
		// Several checks of one number: the most that was seen, and the least that was allowed.
		"kubernetes#1: 12 replicasets, at most 2 expected": {counted, []Check{check(counts+"1 at most", "2 more, from 1 to 3"), check(counts+"10 at most", "11 more, from 1 to 12")}},
		"kubernetes#1: 3 replicasets, at most 1 expected":  {counted, []Check{check(counts+"0 at most", "2 more, from 1 to 3"), check("for 15s: calls.size() grows by 0 at most", "7 more, from 0 to 7")}},
		"kubernetes#1: the pod was not ready (False True)": {observed, []Check{check("for 5s: a == b", `" False True"`)}},
		// A report of an earlier skewrig has no sentence.
		`kubernetes#1: stays observed "True", expected "Unknown"`:     {"", []Check{check(`within 1m0s: nodes["node-0"].ready == "Unknown"`, `"True"`)}},
		`kubernetes#1: stays observed 8, expected it >= 2 && it == 2`: {"", []Check{check(`at once: a == b ? 1 : 8 satisfies it >= 2 && it == 2`, `8`)}},
		"kubernetes#1: stays observed no key, expected a sentence":    {"", []Check{check("a sentence", "no key")}},
	} {
		r := Report{
			Requirements: []Requirement{{ID: "regressions/kubernetes-1", Source: "Known bugs, https://github.com/kubernetes/kubernetes/issues/1"}},
			Findings:     []Finding{{ID: "bug", Headline: "It grows", Seen: c.seen}},
		}
		bug, is := ReproductionOf(Cell{Outcome: ExpectedFail, Checks: c.checks}, r)
		if got := bug.Bug + ": " + bug.Seen; !is || got != want || bug.Headline != "It grows" || bug.Link != "https://github.com/kubernetes/kubernetes/issues/1" {
			t.Errorf("%t, %+v: %q, want %q", is, bug, got, want)
		}
		r.Requirements[0].Source = "Known bugs"
		if bug, _ := ReproductionOf(Cell{Outcome: ExpectedFail, Checks: c.checks}, r); bug.Bug != "kubernetes-1" || bug.Link != "" {
			t.Errorf("without an address: %+v", bug)
		}
	}
}

func TestNothingIsReproduced(t *testing.T) {
	t.Parallel()
	bug := Check{ID: "stays", Requirement: "regressions/kubernetes-1", Outcome: ExpectedFail}
	passed, kep := bug, bug
	passed.Outcome, kep.Requirement = Pass, "KEP-1/stays"
	for name, c := range map[string]Cell{
		"another cell of a release":     {Outcome: Pass, Checks: []Check{passed}},
		"a deviation from a KEP":        {Outcome: ExpectedFail, Checks: []Check{kep}},
		"a cell that fails, too":        {Outcome: Fail, Checks: []Check{bug, {ID: "new", Outcome: Fail}}},
		"another deviation of the cell": {Outcome: ExpectedFail, Checks: []Check{passed, kep}},
	} {
		if got, is := ReproductionOf(c, Report{}); is {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
