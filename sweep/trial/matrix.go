package trial

import (
	"fmt"
	"slices"
	"strings"
)

// Standing is how a sweep lists a finding.
type Standing string

// The standings.
const (
	Reported    Standing = "finding"
	Unconfirmed Standing = "not confirmed"
	SeenBefore  Standing = "known"
)

// Listed is a finding as a sweep lists it.
type Listed struct {
	Finding

	Standing Standing
	// Number is its place among those of its standing, counted from 1.
	Number int
}

// String names it: finding 1, not confirmed 2.
func (l Listed) String() string { return fmt.Sprintf("%s %d", l.Standing, l.Number) }

// ID is its name in addresses and names of files: finding-1, not-confirmed-2.
func (l Listed) ID() string { return strings.ReplaceAll(l.String(), " ", "-") }

// All are all findings of a sweep, those that are news first.
func (s Result) All() (all []Listed) {
	for _, of := range []struct {
		Standing
		findings []Finding
	}{{Reported, s.Findings}, {Unconfirmed, s.NotConfirmed}, {SeenBefore, s.Known}} {
		for n, f := range of.findings {
			all = append(all, Listed{Finding: f, Standing: of.Standing, Number: n + 1})
		}
	}
	return all
}

// Title is the signature as the beginning of a sentence. The name of a component stays as it is.
func (f Finding) Title() string {
	said := f.Signature()
	if len(f.Mutations) == 0 {
		return said
	}
	return strings.ToUpper(said[:1]) + said[1:]
}

// Transitions are all changes with which it was seen.
func (f Found) Transitions() []string { return append([]string{f.Transition}, f.Also...) }

// HasItem reports whether it was seen of an object, and not of a component alone.
func (f Found) HasItem() bool { return f.Kind != "" }

// During is a finding with those of its items that were seen with a change.
func (f Finding) During(transition string) Finding {
	return f.only(func(i Found) bool { return slices.Contains(i.Transitions(), transition) })
}

// Of is a finding with those of its items that use fields of a gate and were seen with a change.
func (f Finding) Of(transition, gate string) Finding {
	return f.During(transition).only(func(i Found) bool { return slices.Contains(i.ownGates(), gate) })
}

// WithoutItem is a finding with what was seen of components alone with a change.
func (f Finding) WithoutItem(transition string) Finding {
	return f.During(transition).only(func(i Found) bool { return !i.HasItem() })
}

func (f Finding) only(is func(Found) bool) Finding {
	f.Items = slices.DeleteFunc(slices.Clone(f.Items), func(i Found) bool { return !is(i) })
	return f
}

// Matrix is what was tried with a change.
type Matrix struct {
	Transition string
	Mutations  []Mutation // those that were tried
	Rows       []Row      // one for each gate of the sweep
}

// Row is what was tried of a gate.
type Row struct {
	Gate string
	// Cells are in the order of the mutations. If unset, nothing was tried, and Why says why not.
	Cells []Cell
	Why   string
}

// Cell is what was tried of a gate with a mutation.
type Cell struct {
	Objects int
	// Found are the findings that were seen.
	Found []Listed
}

// Matrices are what was tried, one for each change.
func (s Result) Matrices() (all []Matrix) {
	for _, transition := range s.Transitions {
		m := Matrix{Transition: transition.String()}
		for _, mutation := range byRank() {
			if slices.ContainsFunc(s.Tried, func(t Tally) bool { return t.Transition == m.Transition && t.Mutation == mutation }) {
				m.Mutations = append(m.Mutations, mutation)
			}
		}
		for _, gate := range s.Gates {
			m.Rows = append(m.Rows, s.row(m, gate))
		}
		all = append(all, m)
	}
	return all
}

func (s Result) row(m Matrix, gate string) Row {
	row := Row{Gate: gate, Why: s.whyNot(m.Transition, gate)}
	if row.Why != "" {
		return row
	}
	for _, mutation := range m.Mutations {
		var c Cell
		for _, t := range s.Tried {
			if t.Transition == m.Transition && t.Gate == gate && t.Mutation == mutation {
				c.Objects += t.Objects
			}
		}
		for _, l := range s.All() {
			if slices.ContainsFunc(l.Of(m.Transition, gate).Items, func(i Found) bool { return i.MutatedBy(mutation) }) {
				c.Found = append(c.Found, l)
			}
		}
		row.Cells = append(row.Cells, c)
	}
	return row
}

// whyNot says why nothing of a gate was tried with a change. It is empty if something was.
func (s Result) whyNot(transition, gate string) string {
	if slices.ContainsFunc(s.Tried, func(t Tally) bool { return t.Transition == transition && t.Gate == gate && t.Objects > 0 }) {
		return ""
	}
	if why := s.Unreached(gate); why != "" {
		return why
	}
	if !slices.ContainsFunc(s.Plans, func(p PlanResult) bool { return p.Transition.String() == transition }) {
		return "no plan with this change ran"
	}
	return "no object that uses its fields is tried with this change"
}

// Unreached says why nothing of a gate was tried. It is empty if something was.
func (s Result) Unreached(gate string) string {
	if slices.ContainsFunc(s.Tried, func(t Tally) bool { return t.Gate == gate && t.Objects > 0 }) {
		return ""
	}
	var known bool
	for _, r := range s.Reached {
		known = known || len(r.Gates) > 0
		switch {
		case !slices.Contains(r.Gates, gate):
		case r.Object != nil:
			return "" // it was reached, and no plan ran
		default:
			return fmt.Sprintf("no object could be made: %s of %s: %s", r.Field, r.Kind, r.Why)
		}
	}
	if !known {
		return "no object that uses its fields was tried"
	}
	return "no kind that is swept has a field of it"
}

// NotReached are the fields of kinds that no object could be made with.
func (s Result) NotReached() (all []Coverage) {
	for _, r := range s.Reached {
		if r.Object == nil {
			all = append(all, r)
		}
	}
	return all
}
