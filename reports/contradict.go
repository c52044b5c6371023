package reports

import (
	"fmt"
	"slices"
	"strings"
)

// mergedProblems are what reports say is wrong with their runs, and what shows
// that they are not about one thing.
func mergedProblems(inputs []Input) []string {
	var problems []string
	for _, in := range inputs {
		problems = append(problems, in.Report.Problems...)
	}
	problems = append(problems, differing(inputs)...)
	return firsts(problems)
}

// differing says what differs between reports that should have it in common.
func differing(inputs []Input) []string {
	var skewrig, seed, components, ledger, expected said
	for _, in := range inputs {
		r := in.Report
		skewrig.add("", r.Reproduce.Skewrig+" built with "+r.Reproduce.Go, in.Name)
		seed.add("", fmt.Sprint(r.Reproduce.Seed), in.Name)
		for _, c := range r.Reproduce.Components {
			components.component(c, in.Name)
		}
		var ids []string
		for _, q := range r.Requirements {
			ids = append(ids, q.ID)
		}
		ledger.add("", Counted(len(ids), "requirement")+lacking(ids, inputs), in.Name)
		for _, c := range r.Cells {
			for _, check := range c.Checks {
				expected.add("check "+check.ID+" of cell "+c.ID, check.Expected, in.Name)
			}
		}
	}
	var problems []string
	problems = append(problems, skewrig.differing("the runs were made by different skewrigs, whose checks may differ")...)
	problems = append(problems, seed.differing("the runs were made with different seeds")...)
	problems = append(problems, components.differing(otherBinary)...)
	problems = append(problems, ledger.differing("the ledgers are not the same")...)
	return append(problems, expected.differing("different expectations: the scenario changed between the runs")...)
}

const otherBinary = "different binaries: build once for all runs, or don't merge them"

// DifferentBinaries says of which releases several binaries took part, as they do
// in a merged report only.
func DifferentBinaries(components []Component) []string {
	var binaries said
	for _, c := range components {
		binaries.component(c, "this report")
	}
	return binaries.differing(otherBinary)
}

// lacking says which requirements that others have are not among some.
func lacking(ids []string, inputs []Input) string {
	var missing []string
	for _, in := range inputs {
		for _, q := range in.Report.Requirements {
			if _, has := slices.BinarySearch(ids, q.ID); !has {
				missing = append(missing, q.ID)
			}
		}
	}
	if len(missing) == 0 {
		return ""
	}
	slices.Sort(missing)
	return " without " + strings.Join(slices.Compact(missing), ", ")
}

// said is what reports say of things that they should agree on.
type said struct {
	things []string
	values map[string][]string            // by thing, in order
	by     map[string]map[string][]string // the names of the reports, by thing and value
}

// component adds which binary a component was. One that was made otherwise, such as
// with a clock of its own, is another component.
func (s *said) component(c Component, name string) {
	source, otherwise, made := strings.Cut(c.Source, " (")
	thing := c.Name + " " + c.Version
	if made {
		thing += " (" + otherwise
	}
	s.add(thing, c.Digest+" of "+source, name)
}

func (s *said) add(thing, value, name string) {
	if s.values == nil {
		s.values, s.by = make(map[string][]string), make(map[string]map[string][]string)
	}
	if s.by[thing] == nil {
		s.things = append(s.things, thing)
		s.by[thing] = make(map[string][]string)
	}
	if s.by[thing][value] == nil {
		s.values[thing] = append(s.values[thing], value)
	}
	if !slices.Contains(s.by[thing][value], name) {
		s.by[thing][value] = append(s.by[thing][value], name)
	}
}

// differing returns a problem for each thing of which different values were said.
func (s *said) differing(problem string) []string {
	var problems []string
	for _, thing := range s.things {
		if len(s.values[thing]) < 2 {
			continue
		}
		var parts []string
		for _, value := range s.values[thing] {
			parts = append(parts, fmt.Sprintf("%s in %s", value, strings.Join(s.by[thing][value], ", ")))
		}
		text := strings.Join(parts, "; ")
		if thing != "" {
			text = thing + ": " + text
		}
		problems = append(problems, fmt.Sprintf("%s: %s", text, problem))
	}
	return problems
}
