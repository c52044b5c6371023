package page

import (
	"cmp"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// screen is what is in the page as plain HTML: what a reader sees first, and
// the lists of cells and requirements.
type screen struct {
	Report  reports.Report
	Verdict outcome
	// Said is the verdict in words, and Counts are the cells by outcome.
	Said, Counts string
	Tallies      []tally
	// When is when the cells ran. It is empty if none did.
	When string
	// Ran is what took part, each once.
	Ran       []ran
	Attention []attention
	// MoreAttention is how many cells need attention beyond those that are listed.
	MoreAttention int
	Known         []knownGroup
	// Worst is by KEP. It is empty if nothing of a KEP ran.
	Worst    []worstCase
	Matrices []matrix
	// Headings are those of the matrices that are no releases.
	Headings []heading
	Legend   []outcome
	Command  string
	// Repository and Checkout are what to check out in order to run it again.
	Repository, Checkout string
	Areas                []cellArea
	// Choices are the outcomes that cells can be chosen by: their own, and those of
	// their checks, which are shown of the cells of a requirement.
	Choices []outcome
	Filters []filter
	Ledgers []ledgerPart
	Served  int
	// Strays are checks that need attention and are in none of the Ledgers.
	Strays []strays
	// Pairs names the components that all pairs of releases are of, if these are the
	// same ones.
	Pairs string

	Policy              string
	Style               template.CSS
	EarlyScript, Script template.JS
}

// tally is how many cells have an outcome.
type tally struct {
	outcome
	Cells int
	Link  template.URL
}

// attention is a cell that needs it, with the checks that decided.
type attention struct {
	tile
	Reason string
	Checks []reports.Check
	More   int
}

// knownGroup is the cells in which a release does what it is known to do wrong.
type knownGroup struct {
	reports.Finding

	Reason string
	Tiles  []tile
	// More is how many there are beyond the tiles.
	More int
}

// filter is a choice among the values that cells have of something.
type filter struct {
	Name, Label string
	Values      []string
	// NotChosen is what stands for the cells that have none of the values. If unset,
	// each cell has one.
	NotChosen string
}

// cellArea is the cells of a KEP.
type cellArea struct {
	KEP   string
	Cells []cellRow
}

type cellRow struct {
	tile
	// At is the position in the report.
	At           int
	Took, Reason string
}

// How much of a report the first screen shows; the rest is a click away.
const (
	maxAttention       = 40
	maxAttentionChecks = 5
	maxKnownTiles      = 9
	maxRowReason       = 220
)

func newScreen(r reports.Report) screen {
	s := screen{
		Report: r, Said: render.Verdict(r), Counts: reports.HeadlineOf(r).String(), Matrices: matrices(r.Cells), Legend: legend(),
		Command: r.Reproduce.Command, Repository: repository, Checkout: checkoutOf(r.Reproduce.Skewrig), Known: knownGroups(r.Cells, r.Findings), Worst: worstCases(r), Areas: cellAreas(r.Cells), Choices: outcomesOf(r.Cells), Filters: filters(r),
		Policy: policy, Style: template.CSS(style), EarlyScript: template.JS(earlyScript), Script: template.JS(script),
	}
	s.Verdict = outcome{Letter: "✗", Tone: "bad"}
	switch reports.ExitCode(r) {
	case reports.ExitExpected:
		s.Verdict = outcome{Letter: "✓", Tone: "good"}
	case reports.ExitNotJudged:
		s.Verdict = outcome{Letter: "?", Tone: "open"}
	}
	withoutReference := ""
	if r.Summary.Reference.Cells > 0 {
		withoutReference = "no"
	}
	for _, o := range s.Legend {
		if n := r.Summary.Outcomes[o.Name]; n > 0 {
			s.Tallies = append(s.Tallies, tally{outcome: o, Cells: n, Link: filterLink("outcome", string(o.Name), reference, withoutReference)})
		}
	}
	s.Headings = explained(s.Matrices)
	s.When = ranAt(r.Cells)
	s.Ran = tookPart(r.Reproduce.Components)
	for _, i := range attentionFirst(r.Cells) {
		if c := r.Cells[i]; !c.Outcome.Expected() {
			s.Attention = append(s.Attention, newAttention(c))
		}
	}
	if len(s.Attention) > maxAttention {
		s.MoreAttention = len(s.Attention) - maxAttention
		s.Attention = s.Attention[:maxAttention]
	}
	s.Ledgers, s.Strays = ledgers(r), strayChecks(r)
	if pairs := pairsOf(r.Cells); len(pairs) == 1 {
		s.Pairs = pairs[0]
	}
	for _, l := range s.Ledgers {
		s.Served += l.Served
	}
	return s
}

// ranAt returns when the first cell began and the last one ended.
func ranAt(cells []reports.Cell) string {
	var began, ended time.Time
	for _, c := range cells {
		for _, r := range c.EachRun() {
			if r.Started.IsZero() {
				continue
			}
			if began.IsZero() || r.Started.Before(began) {
				began = r.Started
			}
			if end := r.Started.Add(time.Duration(r.DurationSeconds * float64(time.Second))); end.After(ended) {
				ended = end
			}
		}
	}
	if began.IsZero() {
		return ""
	}
	const day, minute = "2 January 2006", "15:04"
	from, to := began.UTC().Format(day+", "+minute), ended.UTC().Format(day+", "+minute)
	switch {
	case from == to:
		return from + " UTC"
	case began.UTC().Format(day) == ended.UTC().Format(day):
		to = ended.UTC().Format(minute)
	}
	return from + " to " + to + " UTC"
}

// ran is a component with its releases.
type ran struct{ Name, Versions string }

// tookPart gathers the releases of each component, of components that are sorted.
func tookPart(components []reports.Component) (all []ran) {
	for _, of := range reports.Grouped(components, func(c reports.Component) string { return c.Name }) {
		var versions []string
		for _, c := range of {
			versions = append(versions, c.Version)
		}
		all = append(all, ran{of[0].Name, strings.Join(slices.Compact(versions), ", ")})
	}
	return all
}

func newAttention(c reports.Cell) attention {
	checks := slices.DeleteFunc(slices.Clone(c.Checks), func(check reports.Check) bool { return check.Outcome.Expected() })
	// The check that decided comes first: its outcome is the cell's.
	slices.SortStableFunc(checks, func(x, y reports.Check) int { return y.Outcome.Compare(x.Outcome) })
	n := min(len(checks), maxAttentionChecks)
	return attention{tile: cellTile(c), Reason: c.Reason, Checks: checks[:n], More: len(checks) - n}
}

func cellTile(c reports.Cell) tile {
	return tile{outcome: shown(c.Outcome), Title: c.ID, Link: cellLink(c.ID)}
}

// knownGroups gathers the cells in which known deviations were seen by the finding, or
// by what is written about them: those of most weight first, then those of most cells.
func knownGroups(cells []reports.Cell, findings []reports.Finding) (groups []knownGroup) {
	type excused struct {
		reason, finding string
		tile            tile
	}
	var all []excused
	for _, c := range cells {
		seen := make(map[string]bool)
		for _, check := range c.Checks {
			if why := cmp.Or(check.Finding, check.Reason); check.Outcome.Recorded() && !seen[why] {
				seen[why] = true
				all = append(all, excused{check.Reason, check.Finding, cellTile(c)})
			}
		}
	}
	for _, of := range reports.Grouped(all, func(e excused) string { return cmp.Or(e.finding, e.reason) }) {
		g := knownGroup{Finding: reports.FindingOf(findings, of[0].finding), Reason: of[0].reason, More: max(0, len(of)-maxKnownTiles)}
		for _, e := range of[:len(of)-g.More] {
			g.Tiles = append(g.Tiles, e.tile)
		}
		groups = append(groups, g)
	}
	slices.SortStableFunc(groups, func(a, b knownGroup) int {
		return cmp.Or(a.Compare(b.Finding), cmp.Compare(len(b.Tiles)+b.More, len(a.Tiles)+a.More))
	})
	return groups
}

func cellAreas(cells []reports.Cell) (areas []cellArea) {
	for i, c := range cells {
		at := slices.IndexFunc(areas, func(a cellArea) bool { return a.KEP == c.KEP })
		if at < 0 {
			at = len(areas)
			areas = append(areas, cellArea{KEP: c.KEP})
		}
		areas[at].Cells = append(areas[at].Cells, cellRow{
			tile: cellTile(c), At: i, Took: render.Took(c.DurationSeconds), Reason: cut(c.Reason, maxRowReason),
		})
	}
	return areas
}

// reference chooses cells by whether they are of the reference: "yes" or "no".
const reference = "reference"

// filters are what cells can be chosen by: the KEP, each component's release, and
// whether they are of the reference.
func filters(r reports.Report) []filter {
	keps := make(map[string]bool)
	for _, c := range r.Cells {
		keps[c.KEP] = true
	}
	all := []filter{{Name: "kep", Label: "KEP or area", Values: byRelease(keps)}}
	for _, axis := range releaseAxes(r.Cells) {
		f := filter{Name: axis, Label: axis}
		values := make(map[string]bool)
		for _, c := range r.Cells {
			if v := c.Axes[axis]; v != "" {
				values[v] = true
			} else {
				f.NotChosen = notChosen
			}
		}
		f.Values = byRelease(values)
		all = append(all, f)
	}
	if r.Summary.Reference.Cells > 0 {
		all = append(all, filter{Name: reference, Label: "reference cells", Values: []string{"yes", "no"}})
	}
	return all
}

// outcomesOf are those of cells and of their checks, the most severe first.
func outcomesOf(cells []reports.Cell) []outcome {
	seen := make(map[reports.Outcome]bool)
	for _, c := range cells {
		seen[c.Outcome] = true
		for _, check := range c.Checks {
			seen[check.Outcome] = true
		}
	}
	return slices.DeleteFunc(legend(), func(o outcome) bool { return !seen[o.Name] })
}

func cut(s string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	return string(runes[:limit]) + "…"
}

var webAddress = regexp.MustCompile(`https?://[^\s<>"'()]+`)

// linked escapes a text, and makes links of the web addresses in it.
func linked(s string) template.HTML {
	s = render.Visible(s)
	var b strings.Builder
	last := 0
	for _, at := range webAddress.FindAllStringIndex(s, -1) {
		address := template.HTMLEscapeString(s[at[0]:at[1]])
		fmt.Fprintf(&b, `%s<a href="%s" rel="noreferrer">%s</a>`, template.HTMLEscapeString(s[last:at[0]]), address, address)
		last = at[1]
	}
	b.WriteString(template.HTMLEscapeString(s[last:]))
	return template.HTML(b.String()) //nolint:gosec // every part of it is escaped above
}

// breaking escapes an id, which lines may break after each slash.
func breaking(id string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(id), "/", "/<wbr>")) //nolint:gosec // it is escaped, and has no slash of markup
}

func gib(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
