package page

import (
	"cmp"
	"html/template"
	"slices"

	"github.com/skewrig/skewrig/reports"
)

// ledgerPart is the statements of a KEP.
type ledgerPart struct {
	KEP, Title string
	// Statements are those that some cell does not prove, the worst first and those that
	// no cell tests last; Passed are the others.
	Statements, Passed []statement
	// Served is how many of them the run's cells say something about.
	Served int
}

// Count is how many statements the KEP has.
func (p ledgerPart) Count() int { return len(p.Statements) + len(p.Passed) }

// statement is a requirement with its verdict on each pair of releases.
type statement struct {
	reports.Requirement
	outcome

	Said wording
	// LevelMeans and StageMeans are what these words mean.
	LevelMeans, StageMeans string
	// Verdicts are by releases; each leads to its cell, or to its cells.
	Verdicts []verdict
}

// verdict is the outcome of a requirement on a pair of releases, which its title
// names with their components, and Releases more briefly where the scenario fixes them.
type verdict struct {
	tile
	Releases string
}

func ledgers(r reports.Report, titles map[string]string, of map[string]wording) (parts []ledgerPart) {
	cells := make(map[string]reports.Cell)
	for _, c := range r.Cells {
		cells[c.ID] = c
	}
	axes := releaseAxes(r.Cells)
	for _, ofKEP := range reports.Grouped(r.Requirements, func(q reports.Requirement) string { return q.KEP }) {
		part := ledgerPart{KEP: ofKEP[0].KEP, Title: titles[ofKEP[0].KEP]}
		for _, q := range ofKEP {
			s := statement{
				Requirement: q, outcome: shown(q.Outcome), Said: of[q.ID], LevelMeans: levels[q.Level], StageMeans: stages[q.Stage],
				Verdicts: verdicts(q, cells, axes),
			}
			part.add(s)
		}
		slices.SortStableFunc(part.Statements, func(a, b statement) int {
			return cmp.Or(min(1, len(b.Cells))-min(1, len(a.Cells)), b.Name.Compare(a.Name))
		})
		parts = append(parts, part)
	}
	return parts
}

func (p *ledgerPart) add(s statement) {
	if len(s.Cells) > 0 {
		p.Served++
	}
	if len(s.Cells) > 0 && (s.Name == reports.Pass || s.Name == reports.NotApplicable) {
		p.Passed = append(p.Passed, s)
	} else {
		p.Statements = append(p.Statements, s)
	}
}

// verdicts judges a requirement on each pair of releases that its cells are about.
func verdicts(q reports.Requirement, cells map[string]reports.Cell, axes []string) (all []verdict) {
	groups := make(map[pair][]reports.Cell)
	for _, id := range q.Cells {
		p := pairOf(cells[id], axes)
		groups[p] = append(groups[p], cells[id])
	}
	for p, group := range groups {
		worst, ids := reports.RequirementOutcome(q.ID, group)
		v := verdict{
			Releases: p.label(),
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
