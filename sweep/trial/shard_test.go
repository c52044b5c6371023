package trial

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/law"
)

// sharded is a sweep of 30 fields in two kinds, with an object for each that uses it, and a control of each kind.
func sharded(index, of int) (s Result, uses []Use) {
	s = Result{Version: "v1.90.1", Gates: []string{"A"}, Transitions: Transitions(nil, "v1.90.1", ""), Shard: reports.Shard{Index: index, Of: of}}
	for _, kind := range []string{"Pod", "Job"} {
		uses = append(uses, Use{Kind: kind, APIVersion: "v1"})
	}
	for n := range 30 {
		for _, kind := range []string{"Pod", "Job"} {
			field := fmt.Sprintf("v1.A.f%02d", n)
			s.Reached = append(s.Reached, Coverage{Field: field, Kind: kind, APIVersion: "v1"})
			uses = append(uses, Use{Used: Used{Field: field, Gates: []string{"A"}}, Kind: kind, APIVersion: "v1"})
		}
	}
	return s, uses
}

// TestShardsAreTheWhole: each field in a kind is in exactly one shard, and each shard has as many, of both kinds, with
// their controls.
func TestShardsAreTheWhole(t *testing.T) {
	t.Parallel()
	whole, uses := sharded(0, 0)
	if got := whole.OfShard(uses); len(got) != len(uses) {
		t.Errorf("without shards %d of %d", len(got), len(uses))
	}
	for _, of := range []int{1, 4, 7, 100} {
		times := make(map[string]int)
		for index := range of {
			s, uses := sharded(index+1, of)
			fields := make(map[string]int) // by kind
			for _, u := range s.OfShard(uses) {
				if u.IsControl() {
					fields[u.Kind] += 100
					continue
				}
				fields[u.Kind]++
				times[u.Field+" of "+u.Kind]++
			}
			n := 0
			for kind, of := range fields {
				if of <= 100 {
					t.Errorf("%s of shard %v: %d, and a control is 100", kind, s.Shard, of)
				}
				n += of - 100
			}
			if n < 60/of || n > 60/of+1 || of == 4 && len(fields) != 2 {
				t.Errorf("shard %v has %v of 60", s.Shard, fields)
			}
		}
		for _, u := range uses {
			if got := times[u.Field+" of "+u.Kind]; !u.IsControl() && got != 1 {
				t.Errorf("%s of %s is in %d of %d shards", u.Field, u.Kind, got, of)
			}
		}
	}
	for number := range 100 {
		var in []int
		for index := range 4 {
			if s, _ := sharded(index+1, 4); s.HasRandom(number) {
				in = append(in, index)
			}
		}
		if len(in) != 1 {
			t.Errorf("random plan %d is in shards %d", number, in)
		}
	}
}

// Gates that guard no field are tried with a control of each kind, in one shard.
func TestOneShardHasTheControlsOfGatesWithoutFields(t *testing.T) {
	t.Parallel()
	uses := []Use{{APIVersion: "v1", Kind: "Pod"}, {APIVersion: "v1", Kind: "Secret"}}
	for index := range 3 {
		s := Result{Bare: []string{"WatchList"}, Shard: reports.Shard{Index: index + 1, Of: 3}}
		if got, want := len(s.OfShard(uses)), map[int]int{0: 2}[index]; got != want {
			t.Errorf("shard %v has %d, want %d", s.Shard, got, want)
		}
	}
	whole := Result{Bare: []string{"WatchList"}}
	if got := len(whole.OfShard(uses)); got != 2 {
		t.Errorf("without shards %d of 2", got)
	}
	if got := len(Result{}.OfShard(uses)); got != 0 {
		t.Errorf("without such gates %d", got)
	}
}

// TestJoin: what shards tried and found is summed up, and what each of them reached is taken of it.
func TestJoin(t *testing.T) {
	t.Parallel()
	found := func(kind, field string) []Finding {
		return []Finding{{What: law.Endless, Mutations: Mutations{Template}, Items: []Found{{Item: Item{Use: Use{Kind: kind, Used: Used{Field: field}}}}}}}
	}
	a, _ := sharded(1, 2)
	b, _ := sharded(2, 2)
	for n, index := range a.indexes() {
		mine := &[]*Result{&a, &b}[index-1].Reached[n]
		mine.Path = fmt.Sprintf("by %d", index)
	}
	transition := a.Transitions[0]
	a.Plans = []PlanResult{{Plan: Plan{Number: 1, Transition: transition}, Objects: 3, Seconds: 2, Found: []string{"x"}}, {Plan: Plan{Number: 8, Random: true}}}
	b.Plans = []PlanResult{{Plan: Plan{Number: 1, Transition: transition}, Objects: 4, Seconds: 1, Found: []string{"x", "a"}}, {Plan: Plan{Number: 7, Random: true}}}
	a.Tried = []Tally{{transition.String(), "A", Label, 2}}
	b.Tried = []Tally{{transition.String(), "A", Label, 3}, {transition.String(), "A", Delete, 1}}
	a.Settable, b.Settable = []string{"A", "C"}, []string{"A", "B"}
	a.Findings, b.Findings = found("Pod", "v1.A.f01"), found("Job", "v1.A.f02")
	b.NotConfirmed = found("Pod", "v1.A.f03")

	got, err := Join([]Input{{"b", b}, {"a", a}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Shard != (reports.Shard{}) || got.Items() != 7 || got.Plans[0].Seconds != 3 || !slices.Equal(got.Plans[0].Found, []string{"a", "x"}) {
		t.Errorf("plans of %v: %+v", got.Shard, got.Plans)
	}
	var numbers []int
	for _, p := range got.Plans {
		numbers = append(numbers, p.Number)
	}
	if !slices.Equal(numbers, []int{1, 7, 8}) || !slices.Equal(got.Settable, []string{"A", "B", "C"}) {
		t.Errorf("plans %d, settable %q", numbers, got.Settable)
	}
	if want := []Tally{{transition.String(), "A", Delete, 1}, {transition.String(), "A", Label, 5}}; !slices.Equal(got.Tried, want) {
		t.Errorf("tried %v", got.Tried)
	}
	if len(got.Findings) != 1 || len(got.Findings[0].Items) != 2 || len(got.NotConfirmed) != 1 {
		t.Errorf("found %+v", got.Findings)
	}
	for n, index := range a.indexes() {
		if want := fmt.Sprintf("by %d", index); got.Reached[n].Path != want {
			t.Errorf("what is reached of %s is %q, want that of its shard: %q", got.Reached[n].Field, got.Reached[n].Path, want)
		}
	}
}

// TestJoinRefuses what is not all of one sweep.
func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	of := func(index, of int, change func(*Result)) Result {
		s, _ := sharded(index, of)
		if change != nil {
			change(&s)
		}
		return s
	}
	for want, shards := range map[string][]Input{
		"shard 2/3 is missing\nshard 3/3 is missing":  {{"a", of(1, 3, nil)}},
		"a and b are both shard 1/2":                  {{"a", of(1, 2, nil)}, {"b", of(1, 2, nil)}, {"c", of(2, 2, nil)}},
		"a is a whole sweep, and no shard of one":     {{"a", of(0, 0, nil)}},
		"a and b are not of the same sweep":           {{"a", of(1, 2, nil)}, {"b", of(2, 2, func(s *Result) { s.Seed = 8 })}},
		"b and c are not of the same sweep":           {{"b", of(1, 2, nil)}, {"c", of(2, 3, nil)}},
		"c and d are not of the same sweep: they dif": {{"c", of(1, 2, nil)}, {"d", of(2, 2, func(s *Result) { s.Reached = s.Reached[1:] })}},
	} {
		if _, err := Join(shards); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
