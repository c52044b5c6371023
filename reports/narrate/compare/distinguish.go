package compare

import (
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// Distinguish returns what all runs of a cell showed and none of another cell did, and the other
// way round, in the order in which it begins. What is not firm may be chance, unless the runs are
// enough to tell.
func Distinguish(here, there []Run) []reports.Distinction {
	ours, theirs := allFacts(here), allFacts(there)
	if len(ours) == 0 || len(theirs) == 0 {
		return nil
	}
	both := checksOf(ours[0], theirs[0])
	many := ways(len(ours)+len(theirs), len(ours)) >= enough
	var all []reports.Distinction
	at := make(map[string]int) // in all, by what it is about
	add := func(some, others []runFacts, set func(*reports.Distinction, string)) {
		for _, f := range only(some, others, true) {
			if isCheck(f) && !both[f.about] {
				continue
			}
			what := strings.TrimRight(f.about, ",")
			i, known := at[what]
			if !known {
				i = len(all)
				at[what] = i
				all = append(all, reports.Distinction{What: what, Step: f.step, At: some[0].seconds(f), Chance: true})
			}
			all[i].Chance = all[i].Chance && !f.firm && !many
			set(&all[i], saidOf(f))
		}
	}
	add(ours, theirs, func(d *reports.Distinction, said string) { d.Here = reports.Then(d.Here, said) })
	add(theirs, ours, func(d *reports.Distinction, said string) { d.There = reports.Then(d.There, said) })
	slices.SortStableFunc(all, func(a, b reports.Distinction) int { return a.Step - b.Step })
	return all
}

func allFacts(runs []Run) (all []runFacts) {
	return reports.Each(runs, func(r Run) runFacts { return factsOf(r, true) })
}

// seconds is when a fact was seen first.
func (t *runFacts) seconds(f fact) float64 {
	return t.Seconds(t.Events[min(f.place, len(t.Events)-1)].At)
}

// saidOf is what a fact says of what it is about.
func saidOf(f fact) string {
	if said := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(f.text, f.about), ":")); said != "" {
		return strings.TrimPrefix(said, "is ")
	}
	return "seen"
}

func isCheck(f fact) bool { return strings.HasPrefix(f.about, "check ") }

// checksOf are the checks that both of two runs have: a scenario may have others for another
// release.
func checksOf(a, b runFacts) map[string]bool {
	checks := make(map[string]bool)
	for _, f := range a.facts {
		if isCheck(f) {
			checks[f.about] = slices.ContainsFunc(b.facts, func(other fact) bool { return other.about == f.about })
		}
	}
	return checks
}
