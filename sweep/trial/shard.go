package trial

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/skewrig/skewrig/reports"
)

// OfShard are the objects that a shard tries: those with the fields that are its own, and the controls of their
// kinds. The first shard has the controls of all kinds for gates that guard no field. If the shard is unset, all are.
func (s Result) OfShard(uses []Use) (mine []Use) {
	type one struct{ field, apiVersion, kind string }
	own := make(map[one]bool)
	kinds := make(map[string]bool)
	for n, index := range s.indexes() {
		if r := s.Reached[n]; s.Shard.Of == 0 || index == s.Shard.Index {
			own[one{r.Field, r.APIVersion, r.Kind}], kinds[r.APIVersion+" "+r.Kind] = true, true
		}
	}
	return slices.DeleteFunc(slices.Clone(uses), func(u Use) bool {
		if u.IsControl() {
			bare := len(s.Bare) > 0 && s.Shard.Index <= 1
			return !bare && !kinds[u.APIVersion+" "+u.Kind]
		}
		return !own[one{u.Field, u.APIVersion, u.Kind}]
	})
}

// indexes are those of the shards that fields in kinds belong to, from 1, whether they could be reached or not. What comes
// next to each other in the types goes to different shards, and so do the kinds of a field: they take as long as each
// other.
func (s Result) indexes() []int {
	order := make([]int, len(s.Reached))
	hash := func(n int) uint64 {
		h := fnv.New64a()
		fmt.Fprint(h, s.Reached[n].Kind, s.Reached[n].APIVersion, s.Reached[n].Field)
		return h.Sum64()
	}
	for n := range order {
		order[n] = n
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(hash(a), hash(b)) })
	all := make([]int, len(order))
	for rank, n := range order {
		all[n] = rank%max(s.Shard.Of, 1) + 1
	}
	return all
}

// HasRandom reports whether a random plan of a number is one of the shard.
func (s Result) HasRandom(number int) bool {
	return s.Shard.Has(number)
}

// Input is what a shard of a sweep came to, with a name for error messages.
type Input struct {
	Name string
	Result
}

// Join is what a sweep came to whose shards are all there. It is an error if one is missing or there twice, or if they
// are of different sweeps.
func Join(shards []Input) (Result, error) {
	if err := areWhole(shards); err != nil {
		return Result{}, err
	}
	shards = slices.SortedFunc(slices.Values(shards), func(a, b Input) int { return cmp.Compare(a.Shard.Index, b.Shard.Index) })
	all := shards[0].Result
	all.Reached = slices.Clone(all.Reached)
	for n, index := range all.indexes() {
		all.Reached[n] = shards[index-1].Reached[n]
	}
	all.Shard = reports.Shard{}
	for _, s := range shards[1:] {
		all.Settable = slices.Compact(slices.Sorted(slices.Values(slices.Concat(all.Settable, s.Settable))))
		all.Plans = joinPlans(all.Plans, s.Plans)
		all.Tried = addTallies(all.Tried, s.Tried)
		all.Witnessed = all.With(s.Witnessed)
		all.Findings = Merge(all.Findings, s.Findings)
		all.NotConfirmed = Merge(all.NotConfirmed, s.NotConfirmed)
		all.Known = Merge(all.Known, s.Known)
	}
	return all, nil
}

// areWhole is an error unless shards are all those of one sweep.
func areWhole(shards []Input) error {
	var problems []error
	had := make(map[int]string) // by index
	first := shards[0]
	for _, s := range shards {
		switch other := had[s.Shard.Index]; {
		case s.Shard.Of == 0:
			problems = append(problems, fmt.Errorf("%s is a whole sweep, and no shard of one", s.Name))
		case s.subject() != first.subject() || s.Shard.Of != first.Shard.Of || len(s.Reached) != len(first.Reached):
			problems = append(problems, fmt.Errorf("%s and %s are not of the same sweep: they differ in release, seed, gates, kinds, places or the number of shards", first.Name, s.Name))
		case other != "":
			problems = append(problems, fmt.Errorf("%s and %s are both shard %d/%d", other, s.Name, s.Shard.Index, s.Shard.Of))
		}
		had[s.Shard.Index] = s.Name
	}
	for n := range first.Shard.Of {
		if had[n+1] == "" {
			problems = append(problems, fmt.Errorf("shard %d/%d is missing", n+1, first.Shard.Of))
		}
	}
	return errors.Join(problems...)
}

// subject says what is swept, and is the same for the shards of a sweep.
func (s Result) subject() string {
	return fmt.Sprint(s.Version, s.To, s.Seed, s.Gates, s.Kinds, s.Asked, s.Transitions)
}

// IsSame reports whether two sweeps try the same, and are the same shard of it.
func (s Result) IsSame(other Result) bool {
	return s.subject() == other.subject() && s.Shard == other.Shard
}

// joinPlans adds plans of another shard. One that both have tried other objects there.
func joinPlans(all, more []PlanResult) []PlanResult {
	all = slices.Clone(all)
	for _, p := range more {
		n := slices.IndexFunc(all, func(had PlanResult) bool { return had.Number == p.Number })
		if n < 0 {
			all = append(all, p)
			continue
		}
		all[n].Objects += p.Objects
		all[n].Seconds += p.Seconds
		all[n].Found = slices.Compact(slices.Sorted(slices.Values(slices.Concat(all[n].Found, p.Found))))
	}
	slices.SortFunc(all, func(a, b PlanResult) int { return cmp.Compare(a.Number, b.Number) })
	return all
}
