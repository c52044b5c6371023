package page

import (
	"html/template"

	"github.com/skewrig/skewrig/reports"
)

// worstCase is how many statements of a KEP hold wherever they have to, of all its cells
// and by release.
type worstCase struct {
	reports.WorstCase
	Releases []reports.WorstCase
	// Link leads to the first cell that keeps it from being all. If unset, none does.
	Link template.URL
}

func worstCases(r reports.Report) (all []worstCase) {
	for _, of := range reports.Grouped(reports.WorstCases(r), func(w reports.WorstCase) string { return w.KEP }) {
		w := worstCase{WorstCase: of[0], Releases: of[1:]}
		if len(w.Lacking) > 0 {
			w.Link = cellLink(w.Lacking[0])
		}
		all = append(all, w)
	}
	return all
}
