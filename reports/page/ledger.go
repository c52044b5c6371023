package page

import (
	"cmp"
	"html/template"
	"slices"

	"github.com/skewrig/skewrig/reports"
)

// ledgerPart is the statements of a KEP.
type ledgerPart struct {
	KEP        string
	Statements []statement
	// Served is how many of them the run's cells say something about.
	Served int
}

// statement is a requirement with its verdict on each pair of releases.
type statement struct {
	reports.Requirement
	outcome

	// Link leads to the source. If unset, the source is no address.
	Link string
	// Verdicts are by releases; each leads to its cell, or to its cells.
	Verdicts []verdict
}

// verdict is the outcome of a requirement on a pair of releases, which its title
// names with their components, and Releases more briefly.
type verdict struct {
	tile
	Releases string
}

func ledgers(r reports.Report) (parts []ledgerPart) {
	cells := make(map[string]reports.Cell)
	for _, c := range r.Cells {
		cells[c.ID] = c
	}
	axes, alike := releaseAxes(r.Cells), len(pairsOf(r.Cells)) < 2
	for _, ofKEP := range reports.Grouped(r.Requirements, func(q reports.Requirement) string { return q.KEP }) {
		part := ledgerPart{KEP: ofKEP[0].KEP}
		for _, q := range ofKEP {
			s := statement{Requirement: q, outcome: shown(q.Outcome), Verdicts: verdicts(q, cells, axes, alike)}
			if _, is := reports.WebAddress(q.Source); is {
				s.Link = q.Source
			}
			if len(q.Cells) > 0 {
				part.Served++
			}
			part.Statements = append(part.Statements, s)
		}
		parts = append(parts, part)
	}
	return parts
}

// verdicts judges a requirement on each pair of releases that its cells are about.
func verdicts(q reports.Requirement, cells map[string]reports.Cell, axes []string, alike bool) (all []verdict) {
	groups := make(map[pair][]reports.Cell)
	for _, id := range q.Cells {
		p := pairOf(cells[id], axes)
		groups[p] = append(groups[p], cells[id])
	}
	for p, group := range groups {
		worst, ids := reports.RequirementOutcome(q.ID, group)
		v := verdict{
			Releases: p.label(alike),
			tile:     tile{outcome: shown(worst), Title: p.String(), Link: p.cellsLink(axes, "requirement", q.ID)},
		}
		if len(ids) == 1 {
			v.Link = cellLink(ids[0]) + template.URL("&requirement="+escape(q.ID))
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b verdict) int {
		return cmp.Or(cmp.Compare(a.Releases, b.Releases), cmp.Compare(a.Title, b.Title))
	})
	return all
}
