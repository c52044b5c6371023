package app

import (
	"context"
	"fmt"
	"time"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/sweep/trial"
)

// What a finding is made smaller with: plans of objects that lack one thing each, for so long, and so many times.
const (
	shrinkLimit  = 10 * time.Minute
	shrinkRounds = 5
)

// shrink makes what shows each finding smaller: an object for a component that ends, and what is taken away of
// an object while it still shows the finding, with as few gates as it takes turned off.
func (s Sweep) shrink(ctx context.Context, state *swept) error {
	for n := range state.Findings {
		f := &state.Findings[n]
		of := smallest(f.Items)
		smaller, err := s.shrunk(ctx, state, fmt.Sprintf("smaller-%d", n+1), f.What, f.Items[of])
		if err != nil {
			return err
		}
		f.Items[of] = smaller
		if len(f.Items) == 1 {
			f.Mutations = smaller.Mutations
		}
	}
	state.Findings = trial.Merge(nil, state.Findings)
	return nil
}

// smallest is the one with the fewest mutations and fields.
func smallest(all []trial.Found) (best int) {
	size := func(f trial.Found) int { return len(f.Mutations) + len(f.And) }
	for n, f := range all {
		if size(f) < size(all[best]) {
			best = n
		}
	}
	return best
}

// shrunk is what shows a finding without what can be taken away of it, or as it is if it takes more than its own
// gates.
func (s Sweep) shrunk(ctx context.Context, state *swept, name, what string, found trial.Found) (trial.Found, error) {
	smaller := shrinking{Sweep: s, name: name, what: what, until: time.Now().Add(shrinkLimit), plan: state.plans[found.Plan]}
	if !found.HasItem() { // a component
		item, err := smaller.culprit(ctx)
		if err != nil || item.Name == "" {
			return found, err
		}
		found.Item = item
	}
	_, ends := trial.ProgramOf(what)
	if s.To == "" {
		gates := state.own(found)
		if ends {
			gates = smaller.plan.Gates
		}
		gates, err := smaller.gates(ctx, gates, found.IsControl() || ends, found.Item)
		if err != nil {
			return found, err
		}
		if found.IsControl() || ends {
			found.Off = gates
		}
		smaller.Gates, smaller.plan.Gates = gates, gates
	}
	if ends { // which object did it can't be seen
		return found, nil
	}
	item, err := smaller.object(ctx, found.Item)
	found.Item = item
	return found, err
}

// shrinking makes what shows a finding smaller.
type shrinking struct {
	Sweep

	name, what string
	until      time.Time
	plan       trial.Plan
	runs       int
}

// red runs an object, and smaller ones, with the gates of the plan, and returns what they show.
func (s *shrinking) red(ctx context.Context, smaller trial.Smaller) ([]trial.Finding, error) {
	s.runs++
	s.tell("finding %q: %s", s.what, reports.Counted(len(smaller.Plan.Items), "object"))
	seen, err := s.Sweep.plan(ctx, fmt.Sprintf("%s-%d", s.name, s.runs), smaller.Plan)
	if err != nil {
		return nil, err
	}
	return trial.Judge(seen), nil
}

// culprit is the one object of the plan that has a component panic, or none if it takes several.
func (s *shrinking) culprit(ctx context.Context) (trial.Item, error) {
	items := s.plan.Items
	for len(items) > 1 && time.Now().Before(s.until) {
		half, err := halved(items, func(half []trial.Item) (bool, error) { return s.shows(ctx, trial.Only(s.plan, half...)) })
		if err != nil || half == nil {
			return trial.Item{}, err
		}
		items = half
	}
	if len(items) != 1 {
		return trial.Item{}, nil
	}
	return items[0], nil
}

// gates are some, or as few of them as it takes.
func (s *shrinking) gates(ctx context.Context, gates []string, few bool, item trial.Item) ([]string, error) {
	for few && len(gates) > 1 && time.Now().Before(s.until) {
		half, err := halved(gates, func(half []string) (bool, error) {
			s.Gates, s.plan.Gates = half, half
			return s.shows(ctx, trial.Only(s.plan, item))
		})
		if err != nil || half == nil {
			return gates, err
		}
		gates = half
	}
	return gates, nil
}

// halved is one of both halves of what shows something, or nil if it takes both.
func halved[T any](all []T, shows func([]T) (bool, error)) ([]T, error) {
	middle := len(all) / 2
	for _, half := range [][]T{all[:middle], all[middle:]} {
		if is, err := shows(half); is || err != nil {
			return half, err
		}
	}
	return nil, nil
}

func (s *shrinking) shows(ctx context.Context, smaller trial.Smaller) (bool, error) {
	red, err := s.red(ctx, smaller)
	return smaller.Shows(s.what, red), err
}

// object is an item without what can be taken away of it.
func (s *shrinking) object(ctx context.Context, item trial.Item) (trial.Item, error) {
	last := item // what showed it
	for range shrinkRounds {
		if time.Now().After(s.until) {
			break
		}
		smaller := trial.Shrink(s.plan, item)
		red, err := s.red(ctx, smaller)
		if err != nil {
			return last, err
		}
		if !smaller.Shows(s.what, red) {
			return last, nil
		}
		next, less := smaller.Next(s.what, red)
		if !less {
			return item, nil
		}
		item, last = next, smaller.First(s.what, red)
	}
	return last, nil
}
