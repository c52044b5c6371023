package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// section is a heading with lines below it.
type section struct {
	title string
	lines []string
}

func (s section) write(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %d\n", s.title, len(s.lines))
	for _, line := range s.lines {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// gateChanges are the gates that are new, that are gone, and that have another
// stage, default, lock or dependency.
func gateChanges(before, after []release.Gate) []section {
	was := make(map[string]release.Gate, len(before))
	for _, g := range before {
		was[g.Name] = g
	}
	added, gone, changed := section{title: "New gates"}, section{title: "Gates that are gone"}, section{title: "Gates that are otherwise"}
	for _, g := range after {
		old, known := was[g.Name]
		delete(was, g.Name)
		switch {
		case !known:
			added.lines = append(added.lines, g.Name+": "+described(g))
		case described(old) != described(g):
			changed.lines = append(changed.lines, fmt.Sprintf("%s: %s, was %s", g.Name, described(g), described(old)))
		}
	}
	for _, g := range before {
		if _, left := was[g.Name]; left {
			gone.lines = append(gone.lines, g.Name+": was "+described(g))
		}
	}
	return []section{added, gone, changed}
}

func described(g release.Gate) string {
	text := string(g.Stage) + ", off"
	if g.Default {
		text = string(g.Stage) + ", on"
	}
	if g.Locked {
		text += ", locked"
	}
	if len(g.Needs) > 0 {
		text += ", needs " + strings.Join(g.Needs, " and ")
	}
	return text
}

// cellChanges are the ids that only one of two lists of cells has, and what does not fit the pair.
func cellChanges(before, after []plan.Cell) []section {
	unfit := section{title: "Cells that the pair can't run"}
	for _, c := range after {
		if c.Unfit != "" {
			unfit.lines = append(unfit.lines, c.ID+": "+c.Unfit)
		}
	}
	return []section{
		{"Cells with new ids", without(ids(after), ids(before))},
		{"Ids that no cell has any more", without(ids(before), ids(after))},
		unfit,
	}
}

func without(ids, others []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(others, id) })
}

// deviationChanges are the entries that excuse releases to come, and those that
// match no cell.
func deviationChanges(list known.List, cells []string) []section {
	open, stale := section{title: "Known deviations with an open range"}, section{title: "Known deviations that match no cell"}
	for _, d := range list.Deviations {
		if len(d.Releases.Range) > 0 && d.Releases.Range.Open() {
			var checks []string
			for _, c := range d.Checks {
				checks = append(checks, c.String())
			}
			open.lines = append(open.lines, fmt.Sprintf("%s: %s, %s: %s", d.At, d.Releases, d.Cells, strings.Join(checks, " ")))
		}
	}
	_, problems := known.Apply(list, nil, cells)
	for _, p := range problems {
		stale.lines = append(stale.lines, p.Error())
	}
	return []section{open, stale}
}
