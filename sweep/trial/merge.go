package trial

import (
	"cmp"
	"slices"

	"github.com/skewrig/skewrig/scenarios/law"
)

// Merge adds findings of another plan to some. What shows a finding again is named with it once, with the changes
// and mutations with which it does. An object that uses several fields is left out if one that uses fewer shows
// the same, and one that is only a consequence of what it shows in another plan.
func Merge(all, more []Finding) []Finding {
	all = slices.Clone(all)
	for _, f := range simplestFirst(more) {
		var left []Found
		for _, found := range f.Items {
			if had := explaining(all, f, found); had != nil {
				had.also(f, found)
				continue
			}
			left = append(left, found)
		}
		if len(left) == 0 {
			continue
		}
		n := slices.IndexFunc(all, func(other Finding) bool { return other.Signature() == f.Signature() })
		if n < 0 {
			f.Items = nil
			all, n = append(all, f), len(all)
		}
		all[n].Items = append(all[n].Items, left...)
	}
	_, all = split(all, func(f Finding, found Found) bool { return isConsequence(all, f, found) })
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.Signature(), b.Signature()) })
	return all
}

// isConsequence reports whether what an item shows may only be a consequence of what it shows elsewhere when it is
// mutated the same way.
func isConsequence(all []Finding, f Finding, found Found) bool {
	l, _ := law.Named(f.What)
	return slices.ContainsFunc(all, func(other Finding) bool {
		return slices.Contains(l.Follows, other.What) && slices.ContainsFunc(other.Items, func(i Found) bool {
			return i.Kind == found.Kind && slices.Equal(i.FieldNames(), found.FieldNames()) && slices.ContainsFunc(found.Mutations, i.MutatedBy)
		})
	})
}

// simplestFirst sorts findings by how their objects were mutated: once before several times, and in the order of
// the mutations.
func simplestFirst(all []Finding) []Finding {
	rank := func(f Finding) (ranks []int) {
		ranks = append(ranks, len(f.Mutations))
		for _, t := range f.Mutations {
			ranks = append(ranks, t.kind().rank)
		}
		return ranks
	}
	return slices.SortedStableFunc(slices.Values(all), func(a, b Finding) int {
		return cmp.Or(slices.Compare(rank(a), rank(b)), cmp.Compare(a.Signature(), b.Signature()))
	})
}

// explaining is what shows the same with no more fields, or nil.
func explaining(all []Finding, f Finding, found Found) *Found {
	for n := range all {
		if all[n].What != f.What {
			continue
		}
		for i := range all[n].Items {
			had := &all[n].Items[i]
			if had.Kind == found.Kind && had.IsControl() == found.IsControl() && subset(had.FieldNames(), found.FieldNames()) {
				return had
			}
		}
	}
	return nil
}

// also names the changes and mutations with which something shows the same.
func (f *Found) also(other Finding, found Found) {
	for _, transition := range found.Transitions() {
		if !slices.Contains(f.Transitions(), transition) {
			f.Also = append(f.Also, transition)
		}
	}
	for _, t := range append([]Mutations{other.Mutations}, found.AlsoMutated...) {
		same := func(had Mutations) bool { return slices.Equal(had, t) }
		if !same(f.Mutations) && !slices.ContainsFunc(f.AlsoMutated, same) && len(t) > 0 {
			f.AlsoMutated = append(f.AlsoMutated, t)
		}
	}
}

func subset[T comparable](small, big []T) bool {
	return !slices.ContainsFunc(small, func(one T) bool { return !slices.Contains(big, one) })
}

// Tally is how many objects with fields of a gate were mutated in a way while something changed.
type Tally struct {
	Transition string `json:"turn"`
	// Gate is the gate. If it is empty, the objects use no gated field.
	Gate     string   `json:"gate"`
	Mutation Mutation `json:"touch"`
	Objects  int      `json:"objects"`
}

// Tallies adds what a plan tries, sorted.
func Tallies(had []Tally, p Plan) []Tally {
	var tried []Tally
	for _, i := range p.Items {
		gates := i.ownGates()
		if i.IsControl() {
			gates = []string{""}
		}
		for _, gate := range gates {
			for _, mutation := range i.Mutations {
				tried = append(tried, Tally{p.Transition.String(), gate, mutation, 1})
			}
		}
	}
	return addTallies(had, tried)
}

// addTallies are tallies that are summed up, sorted.
func addTallies(had, more []Tally) (all []Tally) {
	counts := make(map[Tally]int)
	for _, t := range slices.Concat(had, more) {
		counts[Tally{Transition: t.Transition, Gate: t.Gate, Mutation: t.Mutation}] += t.Objects
	}
	for t, n := range counts {
		t.Objects = n
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(a.Transition, b.Transition), cmp.Compare(a.Gate, b.Gate), cmp.Compare(a.Mutation, b.Mutation))
	})
	return all
}

// ownGates are those of the fields that an object uses, without those of what these are in.
func (u Use) ownGates() (all []string) {
	for _, f := range u.Fields() {
		all = append(all, f.Gates...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// New parts what shows findings that are not known from what shows known ones: those with the same signature and
// an object of the same kind.
func New(all, known []Finding) (news, had []Finding) {
	return split(all, func(f Finding, found Found) bool {
		return !slices.ContainsFunc(known, func(k Finding) bool {
			return k.Signature() == f.Signature() && slices.ContainsFunc(k.Items, func(i Found) bool { return i.Kind == found.Kind })
		})
	})
}
