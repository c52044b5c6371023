package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Finding is something that should not be, with all items that show it.
type Finding struct {
	// What is the breach of a law, or which component panics where, or ends how.
	What      string    `json:"what"`
	Mutations Mutations `json:"touches,omitempty"`
	// Items are sorted by kind and field.
	Items []Found `json:"items"`
}

// Found is an item that shows a finding.
type Found struct {
	Item

	// Detail says how.
	Detail string `json:"detail"`
	// Transition is the change with which it was seen first, in the plan with the number Plan, and Also
	// are others. AlsoMutated is how else it may be mutated.
	Transition  string      `json:"turn"`
	Plan        int         `json:"plan"`
	Also        []string    `json:"also,omitempty"`
	AlsoMutated []Mutations `json:"alsoTouched,omitempty"`
	// Off are the gates with which it is so, if it is not about a field.
	Off []string `json:"off,omitempty"`
	// Alone is how often it was seen again in a scenario with the gates of the field alone turned
	// off, and Control how often with them left on. If unset, it was not tried.
	Alone   *Rate `json:"alone,omitempty"`
	Control *Rate `json:"control,omitempty"`
}

// Rate is how many of some runs were red.
type Rate struct {
	Red  int `json:"red"`
	Runs int `json:"runs"`
}

// String is "3 of 3 red", or a hyphen if it was not tried.
func (r *Rate) String() string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%d of %d red", r.Red, r.Runs)
}

// Takes are the gates that it takes: those of its fields, or, if it is not about a field, those with which it is so.
func (f Found) Takes() []string { return slices.Concat(f.AllGates(), f.Off) }

// Confirmed reports whether it was seen each time with the gates off, and not once with them on.
func (f Found) Confirmed() bool {
	return f.Alone != nil && f.Alone.Runs > 0 && f.Alone.Red == f.Alone.Runs && f.Control != nil && f.Control.Runs > 0 && f.Control.Red == 0
}

// Split parts the confirmed items of findings from the others. A finding without items is left out.
func Split(all []Finding) (confirmed, others []Finding) {
	return split(all, func(_ Finding, of Found) bool { return of.Confirmed() })
}

func split(all []Finding, first func(Finding, Found) bool) (some, others []Finding) {
	for _, f := range all {
		is, not := f, f
		is.Items, not.Items = nil, nil
		for _, i := range f.Items {
			if first(f, i) {
				is.Items = append(is.Items, i)
			} else {
				not.Items = append(not.Items, i)
			}
		}
		if len(is.Items) > 0 {
			some = append(some, is)
		}
		if len(not.Items) > 0 {
			others = append(others, not)
		}
	}
	return some, others
}

// MutatedBy reports whether it was seen of an object that was mutated so.
func (f Found) MutatedBy(t Mutation) bool {
	return f.Mutations.Has(t) || slices.ContainsFunc(f.AlsoMutated, func(other Mutations) bool { return other.Has(t) })
}

// Signature is what items have in common that show one finding.
func (f Finding) Signature() string {
	if len(f.Mutations) == 0 {
		return f.What
	}
	return fmt.Sprintf("%s: %s", f.Mutations, f.What)
}

// The endings of components that findings name, before where or how.
const (
	panics    = " panics: "
	ends      = " ends by itself: "
	notStarts = " does not start: "
)

// ProgramOf is the program of which a finding says that it panics, ends by itself or does not start.
func ProgramOf(what string) (program string, is bool) {
	program, _ = ending(what)
	return program, program != ""
}

// ending is the program of which a finding says something, and which of the three. Of an object, it is none.
func ending(what string) (program, how string) {
	for _, how := range []string{panics, ends, notStarts} {
		if program, _, is := strings.Cut(what, how); is {
			return program, how
		}
	}
	return "", ""
}

// short is what a finding says, for names of files.
func (f Finding) short() string {
	if program, how := ending(f.What); how != "" {
		return program + strings.ReplaceAll(strings.TrimSuffix(how, ": "), " ", "-")
	}
	words := strings.Fields(strings.ToLower(f.What))
	return strings.Join(words[max(0, len(words)-2):], "-")
}

// Smallest are the items of a finding with the smallest objects, one for each set of gates, sorted by these.
func (f Finding) Smallest() (all []Found) {
	best := make(map[string]Found)
	size := func(of Found) int { return len(fmt.Sprint(of.Object)) }
	for _, of := range f.Items {
		id := strings.Join(of.Takes(), ",")
		if had, is := best[id]; !is || size(of) < size(had) {
			best[id] = of
		}
	}
	for _, id := range slices.Sorted(maps.Keys(best)) {
		all = append(all, best[id])
	}
	return all
}
