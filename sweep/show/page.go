package show

import (
	_ "embed"
	"io"
	"slices"

	"github.com/skewrig/skewrig/reports/static"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/trial"
)

// PageFile is the name of the page beside sweep.json.
const PageFile = "index.html"

// Links are addresses of files beside the page.
type Links struct {
	// Draft is that of the draft of an issue about a finding. If unset, or empty, there is none.
	Draft func(trial.Listed) string
	// Scenarios are those of the scenarios that show an item of a finding. If unset, or empty, there are none.
	Scenarios func(trial.Listed, trial.Found) []string
}

// Page writes a sweep as one HTML file without script.
func Page(w io.Writer, s trial.Result, links Links) error {
	return static.Write(w, pageTemplate, newPageView(s, links))
}

//go:embed page.html
var pageText string

var pageTemplate = static.Parse(pageText)

// pageView is the content of the page.
type pageView struct {
	trial.Result
	static.Head

	Lists    []pageList
	Matrices []trial.Matrix
	Never    []gateNever
	Laws     []law.Law
	Random   bool
	Usable   int
}

// pageList has the findings of one standing.
type pageList struct {
	ID, Title, None string
	Findings        []pageFinding
}

type pageFinding struct {
	trial.Listed

	Draft string
	Items []pageItem
}

// pageItem is an object that shows a finding, or what a component alone shows.
type pageItem struct {
	trial.Found

	Scenarios []string
}

// gateNever is a gate without any object.
type gateNever struct{ Gate, Why string }

func newPageView(s trial.Result, links Links) pageView {
	v := pageView{
		Result: s, Head: static.NewHead(),
		Matrices: s.Matrices(), Laws: law.All, Usable: len(s.Reached) - len(s.NotReached()),
		Random: slices.ContainsFunc(s.Plans, func(p trial.PlanResult) bool { return p.Random }),
		Lists: []pageList{
			{ID: "findings", Title: "Findings", None: "Nothing was found."},
			{ID: "not-confirmed", Title: "Not confirmed"},
			{ID: "known", Title: "Known before"},
		},
	}
	for _, l := range s.All() {
		list := &v.Lists[slices.Index([]trial.Standing{trial.Reported, trial.Unconfirmed, trial.SeenBefore}, l.Standing)]
		list.Findings = append(list.Findings, newPageFinding(l, links))
	}
	for _, gate := range s.Gates {
		if why := s.Unreached(gate); why != "" {
			v.Never = append(v.Never, gateNever{gate, why})
		}
	}
	for n := range v.Matrices { // what was never tried is listed once
		v.Matrices[n].Rows = slices.DeleteFunc(v.Matrices[n].Rows, func(r trial.Row) bool { return s.Unreached(r.Gate) != "" })
	}
	return v
}

func newPageFinding(l trial.Listed, links Links) pageFinding {
	out := pageFinding{Listed: l}
	if links.Draft != nil {
		out.Draft = links.Draft(l)
	}
	for _, found := range l.Items {
		i := pageItem{Found: found}
		if links.Scenarios != nil && found.HasItem() {
			i.Scenarios = links.Scenarios(l, found)
		}
		out.Items = append(out.Items, i)
	}
	return out
}

// Heading is the beginning of the page.
func (v pageView) Heading() string { return v.Outcome() + " in " + string(v.Version) }
