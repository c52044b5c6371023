package page

import (
	"html/template"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/sweep/trial"
)

// view is what the page shows.
type view struct {
	trial.Swept

	Policy   string
	Style    template.CSS
	Lists    []list
	Matrices []trial.Matrix
	Never    []never
	Oracles  []trial.Oracle
	Random   bool
	Usable   int
}

// list are findings of one standing.
type list struct {
	ID, Title, None string
	Findings        []shown
}

// shown is a finding as it is shown.
type shown struct {
	trial.Listed

	Draft string
	Items []item
}

// item is an object that shows a finding, or what a component alone shows.
type item struct {
	trial.Found

	FieldNames, Gates, While string
	Scenarios                []string
}

// never is a gate of which nothing was tried at all.
type never struct{ Gate, Why string }

func newView(s trial.Swept, links Links) view {
	v := view{
		Swept: s, Policy: policy(), Style: template.CSS(style), //nolint:gosec // it is compiled in
		Matrices: s.Matrices(), Oracles: trial.Oracles, Usable: len(s.Reached) - len(s.NotReached()),
		Random: slices.ContainsFunc(s.Plans, func(p trial.Ran) bool { return p.Random }),
		Lists: []list{
			{ID: "findings", Title: "Findings", None: "Nothing was found."},
			{ID: "not-confirmed", Title: "Not confirmed"},
			{ID: "known", Title: "Known before"},
		},
	}
	for _, l := range s.All() {
		of := &v.Lists[slices.Index([]trial.Standing{trial.Reported, trial.Unconfirmed, trial.SeenBefore}, l.Standing)]
		of.Findings = append(of.Findings, newShown(l, links))
	}
	for _, gate := range s.Gates {
		if why := s.Unreached(gate); why != "" {
			v.Never = append(v.Never, never{gate, why})
		}
	}
	for n := range v.Matrices { // what was never tried is listed once
		v.Matrices[n].Rows = slices.DeleteFunc(v.Matrices[n].Rows, func(r trial.Row) bool { return s.Unreached(r.Gate) != "" })
	}
	return v
}

func newShown(l trial.Listed, links Links) shown {
	out := shown{Listed: l}
	if links.Draft != nil {
		out.Draft = links.Draft(l)
	}
	for _, found := range l.Items {
		i := item{Found: found, Gates: strings.Join(found.Takes(), ", "), While: strings.Join(found.Turns(), "; ")}
		i.FieldNames = strings.Join(found.FieldNames(), ", ")
		if links.Scenarios != nil && found.HasItem() {
			i.Scenarios = links.Scenarios(l, found)
		}
		out.Items = append(out.Items, i)
	}
	return out
}

// Heading is the beginning of the page.
func (v view) Heading() string {
	if len(v.Findings) == 0 {
		return "Nothing was found in " + string(v.Version)
	}
	return reports.Counted(len(v.Findings), "finding") + " in " + string(v.Version)
}
