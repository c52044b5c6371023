package trial

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Source is what random plans are made from.
type Source struct {
	Seed        uint64
	Transitions []Transition
	Gates       []string
	Uses        []Use
	// Lacks says what the release that components change to lacks of an object.
	Lacks func(Use) Lack
}

// size is how many objects a random plan has, beside controls.
const size = 150

// Random is a random plan of a number, which prefers what was not tried. The same seed, number and
// tries make the same plan.
func (s Source) Random(number int, tried Tried) Plan {
	r := rand.New(rand.NewPCG(s.Seed, uint64(number))) //nolint:gosec // plans are no secrets, and a number is not negative
	transition := leastOf(r, s.Transitions, func(t Transition) int { return tried.transitions[t.String()] })
	p := Plan{Number: number, Random: true, Transition: transition, Gates: slices.DeleteFunc(slices.Clone(s.Gates), func(string) bool { return r.IntN(4) == 0 })}
	if len(p.Gates) == 0 {
		p.Gates = s.Gates
	}
	if killable := append(transition.Servers(), transition.Manager()); r.IntN(2) == 0 {
		p.Killed = killable[r.IntN(len(killable))]
	}
	uses := usable(transition, s.Uses, s.Lacks)
	byKind := make(map[string][]Use)
	fielded := slices.DeleteFunc(slices.Clone(uses), Use.IsControl)
	for _, u := range fielded {
		byKind[u.Kind] = append(byKind[u.Kind], u)
	}
	if len(fielded) == 0 {
		return p
	}
	for range size {
		u := leastOf(r, fielded, func(u Use) int { return tried.count(transition, u, "") })
		if r.IntN(3) == 0 {
			u = both(u, leastOf(r, byKind[u.Kind], func(u Use) int { return tried.count(transition, u, "") }))
		}
		p.Items = append(p.Items, named(u, fmt.Sprintf("s%04d", len(p.Items)), someMutations(r, transition, u, tried)...))
	}
	p.Items = append(p.Items, controls(uses, p.Items)...)
	return p
}

// leastOf is what was tried least of a few.
func leastOf[T any](r *rand.Rand, all []T, tries func(T) int) T {
	best := all[r.IntN(len(all))]
	for range 2 {
		if other := all[r.IntN(len(all))]; tries(other) < tries(best) {
			best = other
		}
	}
	return best
}

// someMutations returns one to four mutations, of which the last one may delete the object, or one that creates it.
func someMutations(r *rand.Rand, transition Transition, u Use, tried Tried) (mutations []Mutation) {
	if transition.To == "" && !u.ByComment && r.IntN(10) == 0 {
		return []Mutation{[]Mutation{Create, Bare}[r.IntN(2)]}
	}
	possible := mutationsOf(u, func(k kindOfMutation) bool { return k.lasts })
	for range 1 + r.IntN(4) {
		t := leastOf(r, possible, func(t Mutation) int { return tried.count(transition, u, t) })
		if !slices.Contains(mutations, t) { // the second time it would change nothing
			mutations = append(mutations, t)
		}
	}
	if r.IntN(4) == 0 {
		mutations = append(mutations, Delete)
	}
	return mutations
}

// both uses the fields of two objects of one kind. One that the API server refuses is left out of the
// plan later.
func both(a, b Use) Use {
	if a.Field == b.Field {
		return a
	}
	a.And = append(slices.Clone(a.And), b.Fields()...)
	a.Object = joined(a.Object, b.Object).(map[string]any) //nolint:forcetypeassert // of two objects
	a.ByComment = a.ByComment || b.ByComment
	a.Unknown = a.Unknown || b.Unknown
	return a
}

// joined is what two values have, where they differ the first.
func joined(a, b any) any {
	switch a := a.(type) {
	case map[string]any:
		other, _ := b.(map[string]any)
		c := runtime.DeepCopyJSON(a)
		for name, v := range other {
			if mine, has := a[name]; has {
				v = joined(mine, v)
			}
			c[name] = runtime.DeepCopyJSONValue(v)
		}
		return c
	case []any:
		other, _ := b.([]any)
		c := slices.Clone(a)
		for i := range min(len(a), len(other)) {
			c[i] = joined(a[i], other[i])
		}
		return c
	default:
		return a
	}
}

// controls are objects without a field: one for each kind and mutations of items, if they can be done
// to it.
func controls(uses []Use, items []Item) (all []Item) {
	had := make(map[string]bool)
	for _, i := range items {
		id := i.Kind + " " + i.Mutations.Name()
		if had[id] || slices.ContainsFunc(i.Mutations, func(t Mutation) bool { return t.kind().ofFields }) {
			continue
		}
		had[id] = true
		if n := slices.IndexFunc(uses, func(u Use) bool { return u.IsControl() && u.Kind == i.Kind && u.APIVersion == i.APIVersion }); n >= 0 {
			all = append(all, named(uses[n], fmt.Sprintf("s%04d", len(items)+len(all)), i.Mutations...))
		}
	}
	return all
}

// Tried is what plans tried, and how often.
type Tried struct {
	transitions map[string]int
	counts      map[string]int // by transition, field, kind and mutation
}

// NewTried is nothing.
func NewTried() Tried { return Tried{make(map[string]int), make(map[string]int)} }

// Add adds what a plan tries.
func (t Tried) Add(p Plan) {
	t.transitions[p.Transition.String()]++
	for _, i := range p.Items {
		for _, f := range i.Fields() {
			t.counts[tryOf(p.Transition, f.Field, i.Kind, "")]++
			for _, mutation := range i.Mutations {
				t.counts[tryOf(p.Transition, f.Field, i.Kind, mutation)]++
			}
		}
	}
}

func (t Tried) count(transition Transition, u Use, mutation Mutation) int {
	return t.counts[tryOf(transition, u.Field, u.Kind, mutation)]
}

func tryOf(transition Transition, field, kind string, mutation Mutation) string {
	return fmt.Sprint(transition, "\n", field, "\n", kind, "\n", mutation)
}
