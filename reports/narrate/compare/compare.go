// Package compare finds where good and bad runs of a cell differ: the first step
// of the plan at which all bad runs showed something that no good run ever did,
// or the other way round. It looks at the histories and at what came of the
// checks, and at nothing else. Distinguish lists all that differs between two
// cells; it also looks at the fields of objects.
package compare

import (
	"cmp"
	"slices"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// Run is a run of a cell.
type Run struct {
	// Bad is true if it was not as expected.
	Bad    bool
	Events []record.Event
	Checks []reports.Check
}

// enough is in how many ways the bad runs could be drawn from all of them, for
// what varies by chance to count: what only all bad runs show is then chance in
// less than one of twenty cases.
const enough = 20

// Find returns where good and bad runs first differ. It is zero if there are not both, or
// if nothing tells them apart.
//
// Much is another in each run, such as whether a probe still sees a server that
// starts. It counts only where the runs are enough to tell it from chance. With
// fewer runs, what counts is what a plan leaves no room for: checks, answers,
// exits.
func Find(runs []Run) reports.Difference {
	var good, bad []runFacts
	for _, r := range runs {
		if t := factsOf(r, false); r.Bad {
			bad = append(bad, t)
		} else {
			good = append(good, t)
		}
	}
	if len(good) == 0 || len(bad) == 0 {
		return reports.Difference{}
	}
	many := ways(len(runs), len(bad)) >= enough
	fromBad, fromGood := only(bad, good, many), only(good, bad, many)
	both := slices.Concat(fromBad, fromGood)
	if len(both) == 0 {
		return reports.Difference{}
	}
	first := slices.MinFunc(both, func(a, b fact) int { return cmp.Compare(a.step, b.step) })
	return reports.Difference{
		Step: first.step, Action: bad[0].action(first.step, good[0]),
		Bad: at(first.step, fromBad), Good: at(first.step, fromGood),
	}
}

// only returns what all of some runs showed and none of the others, as the first
// of them did. What varies by chance is among it if there are runs enough.
func only(some, others []runFacts, many bool) []fact {
	var facts []fact
	for _, f := range some[0].facts {
		shows := func(t runFacts) bool { return t.keys[f.text] }
		missing := slices.ContainsFunc(some, func(t runFacts) bool { return !shows(t) })
		if (f.firm || many) && !missing && !slices.ContainsFunc(others, shows) {
			facts = append(facts, f)
		}
	}
	return facts
}

// at is what the first of some facts of a step says.
func at(step int, facts []fact) string {
	i := slices.IndexFunc(facts, func(f fact) bool { return f.step == step })
	if i < 0 {
		return ""
	}
	if facts[i].detail == "" {
		return facts[i].text
	}
	return facts[i].text + " (" + facts[i].detail + ")"
}

// ways is in how many ways k things can be drawn from n, or enough if that is
// less.
func ways(n, k int) int {
	all := 1
	for i := range min(k, n-k) {
		all = all * (n - i) / (i + 1)
		if all >= enough {
			return enough
		}
	}
	return all
}
