package show

import (
	"fmt"
	"maps"
	"slices"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/diff"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Trend is what changed from one sweep to another. Findings that were known before are compared with the others; those
// that are not confirmed are left out. Lists are sorted.
type Trend struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// From and To name the sweeps, as the user did.
	From string `json:"from"`
	To   string `json:"to"`
	// Subject is what is different about what was swept.
	Subject []diff.SubjectChange `json:"subject"`
	// New and Gone are findings that only one of the sweeps has.
	New  []Change `json:"new"`
	Gone []Change `json:"gone"`
	// More and Fewer are findings of both that show for other fields of kinds, which they name. One may be in both.
	More  []Change `json:"more"`
	Fewer []Change `json:"fewer"`
	// Reached and NotReached are gates of both sweeps of which objects were tried in only one of them.
	Reached    []string `json:"reached"`
	NotReached []string `json:"notReached"`
}

// Change is a finding, with fields of kinds that show it.
type Change struct {
	Signature string   `json:"signature"`
	Fields    []string `json:"fields"` // "Deployment core/v1.GRPCAction.mode"
}

// Compare returns what changed from one sweep to another, which are called from and to.
func Compare(from, to string, before, after trial.Result) Trend {
	was, is := shownBy(before), shownBy(after)
	t := Trend{
		APIVersion: reports.APIVersion, Kind: "SweepDiff", From: from, To: to, Subject: subjectChanges(before, after),
		New: []Change{}, Gone: []Change{}, More: []Change{}, Fewer: []Change{},
		Reached: reachedOnly(after, before), NotReached: reachedOnly(before, after),
	}
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, signature := range slices.Sorted(maps.Keys(all)) {
		gone, came := without(was[signature], is[signature]), without(is[signature], was[signature])
		switch {
		case was[signature] == nil:
			t.New = append(t.New, Change{signature, came})
		case is[signature] == nil:
			t.Gone = append(t.Gone, Change{signature, gone})
		default:
			t.More = withFields(t.More, signature, came)
			t.Fewer = withFields(t.Fewer, signature, gone)
		}
	}
	return t
}

func withFields(all []Change, signature string, fields []string) []Change {
	if len(fields) == 0 {
		return all
	}
	return append(all, Change{signature, fields})
}

// Count returns how many entries a section of a diff has: regressions are findings that are new, or show for more fields,
// and fixes those that are gone, or show for fewer. Gates that are reached or not reached any more are other changes.
func (t Trend) Count(s diff.Section) int {
	switch s {
	case diff.SubjectSection:
		return len(t.Subject)
	case diff.RegressionsSection:
		return len(t.New) + len(t.More)
	case diff.FixesSection:
		return len(t.Gone) + len(t.Fewer)
	case diff.NewSection:
		return len(t.New)
	case diff.GoneSection:
		return len(t.Gone)
	case diff.ChangedSection:
		return len(t.Reached) + len(t.NotReached)
	default:
		return 0
	}
}

// shownBy are the kinds and fields that show each finding, by its signature.
func shownBy(s trial.Result) map[string][]string {
	all := make(map[string][]string)
	for _, f := range slices.Concat(s.Findings, s.Known) {
		signature := f.Signature()
		if all[signature] == nil {
			all[signature] = []string{}
		}
		for _, i := range f.Items {
			if i.HasItem() {
				all[signature] = append(all[signature], i.String())
			}
		}
	}
	for signature, fields := range all {
		slices.Sort(fields)
		all[signature] = slices.Compact(fields)
	}
	return all
}

// reachedOnly are the gates of both sweeps of which objects were tried in one, and not in the other.
func reachedOnly(in, notIn trial.Result) []string {
	all := []string{}
	for _, gate := range in.Gates {
		if slices.Contains(notIn.Gates, gate) && in.Unreached(gate) == "" && notIn.Unreached(gate) != "" {
			all = append(all, gate)
		}
	}
	return all
}

// without are those of some that others don't have.
func without(some, others []string) []string {
	return slices.DeleteFunc(slices.Concat([]string{}, some), func(s string) bool { return slices.Contains(others, s) })
}

// subjectChanges are the differences in what was swept.
func subjectChanges(before, after trial.Result) []diff.SubjectChange {
	all := []diff.SubjectChange{}
	for _, of := range []struct {
		name string
		has  func(trial.Result) []string
	}{
		{"release", func(s trial.Result) []string { return []string{string(s.Version)} }},
		{"seed", func(s trial.Result) []string { return []string{fmt.Sprint(s.Seed)} }},
		{"gates", func(s trial.Result) []string { return s.Gates }},
		{"kinds", func(s trial.Result) []string { return kindsOf(s) }},
		{"changes", transitionsOf},
	} {
		c := diff.SubjectChange{Name: of.name, Before: without(of.has(before), of.has(after)), After: without(of.has(after), of.has(before))}
		if len(c.Before)+len(c.After) > 0 {
			all = append(all, c)
		}
	}
	return all
}

func kindsOf(s trial.Result) []string {
	if len(s.Kinds) == 0 {
		return []string{"all"}
	}
	return s.Kinds
}

func transitionsOf(s trial.Result) (all []string) {
	for _, t := range s.Transitions {
		all = append(all, t.String())
	}
	return all
}
