package show

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
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

// Page writes a sweep as one HTML file. It loads nothing, has no script, and a policy in it forbids browsers to run or
// load anything. html/template escapes the texts of components, and render.Visible what does not show as itself.
func Page(w io.Writer, s trial.Result, links Links) error {
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, newPageView(s, links)); err != nil {
		return fmt.Errorf("writing the page of a sweep: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("writing the page of a sweep: %w", err)
	}
	return nil
}

//go:embed style.css
var pageStyle string

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"visible": render.Visible, "title": render.Title, "counted": reports.Counted, "join": strings.Join,
}).Parse(pageText))

// pagePolicy lets browsers apply the style, by its digest, and nothing else.
func pagePolicy() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

// pageView is the content of the page.
type pageView struct {
	trial.Result

	Policy   string
	Style    template.CSS
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
		Result: s, Policy: pagePolicy(), Style: template.CSS(pageStyle), //nolint:gosec // it is compiled in
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
func (v pageView) Heading() string {
	if len(v.Findings) == 0 {
		return "Nothing was found in " + string(v.Version)
	}
	return reports.Counted(len(v.Findings), "finding") + " in " + string(v.Version)
}
