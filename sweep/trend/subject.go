package trend

import (
	"fmt"

	"github.com/skewrig/skewrig/reports/diff"
	"github.com/skewrig/skewrig/sweep/trial"
)

// subject is what is different about what was swept.
func subject(before, after trial.Swept) []diff.SubjectChange {
	all := []diff.SubjectChange{}
	for _, of := range []struct {
		name string
		has  func(trial.Swept) []string
	}{
		{"release", func(s trial.Swept) []string { return []string{string(s.Version)} }},
		{"seed", func(s trial.Swept) []string { return []string{fmt.Sprint(s.Seed)} }},
		{"gates", func(s trial.Swept) []string { return s.Gates }},
		{"kinds", func(s trial.Swept) []string { return orAll(s.Kinds) }},
		{"changes", turns},
	} {
		c := diff.SubjectChange{Name: of.name, Before: without(of.has(before), of.has(after)), After: without(of.has(after), of.has(before))}
		if len(c.Before)+len(c.After) > 0 {
			all = append(all, c)
		}
	}
	return all
}

func orAll(kinds []string) []string {
	if len(kinds) == 0 {
		return []string{"all"}
	}
	return kinds
}

func turns(s trial.Swept) (all []string) {
	for _, t := range s.Turns {
		all = append(all, t.String())
	}
	return all
}
