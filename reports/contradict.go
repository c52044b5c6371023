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
	return dedupe(problems)
}

// differing says what differs between reports that should have it in common.
func differing(inputs []Input) []string {
	var skewrig, seed, components, ledger, expected []claim
	for _, in := range inputs {
		r := in.Report
		skewrig = append(skewrig, claim{"", r.Reproduce.Skewrig + " built with " + r.Reproduce.Go, in.Name})
		seed = append(seed, claim{"", fmt.Sprint(r.Reproduce.Seed), in.Name})
		for _, c := range r.Reproduce.Components {
			components = append(components, binary(c, in.Name))
		}
		ids := Each(r.Requirements, func(q Requirement) string { return q.ID })
		ledger = append(ledger, claim{"", Counted(len(ids), "requirement") + lacking(ids, inputs), in.Name})
		for _, c := range r.Cells {
			for _, check := range c.Checks {
				expected = append(expected, claim{"check " + check.ID + " of cell " + c.ID, check.Expected, in.Name})
			}
		}
	}
	return slices.Concat(
		disagreements(skewrig, "the runs were made by different skewrigs, whose checks may differ"),
		disagreements(seed, "the runs were made with different seeds"),
		disagreements(components, otherBinary),
		disagreements(ledger, "the ledgers are not the same"),
		disagreements(expected, "different expectations: the scenario changed between the runs"),
	)
}

const otherBinary = "different binaries: build once for all runs, or don't merge them"

// DifferentBinaries says of which releases several binaries took part, as they do
// in a merged report only.
func DifferentBinaries(components []Component) []string {
	binaries := Each(components, func(c Component) claim { return binary(c, "this report") })
	return disagreements(binaries, otherBinary)
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

// claim is the value that a report gives a thing on which all should agree.
type claim struct{ thing, value, report string }

// binary says which binary a component was. One that was made otherwise, such as
// with a clock of its own, is another component.
func binary(c Component, report string) claim {
	source, otherwise, made := strings.Cut(c.Source, " (")
	thing := c.Name + " " + c.Version
	if made {
		thing += " (" + otherwise
	}
	return claim{thing, c.Digest + " of " + source, report}
}

// disagreements returns a problem for each thing of which reports say different values.
func disagreements(all []claim, problem string) (problems []string) {
	for _, ofThing := range Grouped(all, func(s claim) string { return s.thing }) {
		var values []string
		for _, same := range Grouped(ofThing, func(s claim) string { return s.value }) {
			names := Each(same, func(s claim) string { return s.report })
			values = append(values, same[0].value+" in "+strings.Join(dedupe(names), ", "))
		}
		if len(values) < 2 {
			continue
		}
		text := strings.Join(values, "; ")
		if thing := ofThing[0].thing; thing != "" {
			text = thing + ": " + text
		}
		problems = append(problems, text+": "+problem)
	}
	return problems
}
