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
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/reports/render"
)

// screen is what is in the page as plain HTML: what a reader sees first, and
// the lists of cells and requirements.
type screen struct {
	Report  reports.Report
	Verdict outcome
	// Said is the verdict in words, if there is more to say than Counts, which are the cells
	// by outcome.
	Said string
	// Known is what is known of a run in which nothing is new. If unset, something is, or
	// nothing is known.
	Known   string
	Counts  reports.Headline
	Tallies []tally
	// When is when the cells ran. It is empty if none did.
	When string
	// Ran is what took part, each once.
	Ran []ran
	// Reproduced are the known bugs that cells show as recorded.
	Reproduced []reproduced
	Attention  []attention
	// MoreAttention is how many cells need attention beyond those that are listed.
	MoreAttention int
	// Recorded are the deviations that are known, by weight.
	Recorded []recordings
	// Worst is by KEP. It is empty if nothing of a KEP ran.
	Worst    []worstCase
	Matrices []matrix
	// Headings are those of the matrices that are no releases.
	Headings []heading
	Legend   []outcome
	Command  string
	// Install gets the same skewrig. If it gets another one, InstallNote says so.
	Install, InstallNote string
	Areas                []cellArea
	// Choices are the outcomes that cells can be chosen by: their own, and those of
	// their checks, which are shown of the cells of a requirement.
	Choices []outcome
	Filters []filter
	Ledgers []ledgerPart
	Served  int
	// Strays are checks that need attention and are in none of the Ledgers.
	Strays []strays

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

// Said is how many they are, in words.
func (t tally) Said() string { return t.Name.Count(t.Cells) }

// reproduced is a known bug, with the cells that show it.
type reproduced struct {
	render.Reproduction

	Tiles []tile
	// More is how many cells there are beyond the tiles.
	More int
}

func reproducedIn(r reports.Report) (all []reproduced) {
	for _, bug := range render.Reproductions(r) {
		of := reproduced{Reproduction: bug, More: max(0, len(bug.Cells)-maxDeviationTiles)}
		for _, c := range bug.Cells[:len(bug.Cells)-of.More] {
			of.Tiles = append(of.Tiles, cellTile(c))
		}
		all = append(all, of)
	}
	return all
}

// attention is a cell that needs it, with the checks that decided.
type attention struct {
	tile
	// Of is the title of its scenario.
	Of     string
	Reason string
	// List is the list of known deviations that one of the cell belongs to. If unset, that
	// is not known, or the cell has none.
	List   string
	Checks []attentionCheck
	More   int
}

// attentionCheck is a check that needs attention.
type attentionCheck struct {
	reports.Check

	// Cause is what happened, in a sentence, and Because what led to it. If unset, that is
	// not known.
	Cause   string
	Because []string
	// Also are further checks that fail for the same failure.
	Also []reports.Check
	// Said is what it checks. Without a requirement it is empty.
	Said     wording
	Compared comparison
	// Draft is the id of the finding that it can be reported as. If unset, it can't.
	Draft string
	// Entry is what to add to the list of known deviations. If unset, there is no list.
	Entry string
}

// filter is a choice among the values that cells have of something.
type filter struct {
	Name, Label string
	Values      []string
	// Titles are those of values. Most have none.
	Titles map[string]string
	// NotChosen is what stands for the cells that have none of the values. If unset,
	// each cell has one.
	NotChosen string
}

// cellArea is the cells of a KEP.
type cellArea struct {
	KEP, Title string
	Cells      []cellRow
}

type cellRow struct {
	tile
	// At is the position in the report, Of the title of the scenario.
	At           int
	Of           string
	Took, Reason string
}

// How much of a report the first screen shows; the rest is a click away.
const (
	maxAttention       = 40
	maxAttentionChecks = 5
	maxRowReason       = 220
)

// scene is what a screen is made of.
type scene struct {
	report   reports.Report
	findings []finding.Finding
	// keps are the titles of KEPs and areas, titles those of scenarios.
	keps, titles map[string]string
	// causes are what happened in cells that need attention, by cell and check.
	causes map[string]map[string]narrate.Check
	// drafts and comparisons are what is known of checks that failed, by cell and check.
	drafts      map[string]map[string]string
	comparisons map[string]map[string]comparison
	// lists are the lists of known deviations that those of cells belong to, by cell.
	lists map[string]string
	// entries are what to add to them, by cell and check.
	entries map[string]map[string]string
	// wordings are those of requirements.
	wordings map[string]wording
}

func newScreen(sc scene) screen {
	r := sc.report
	s := screen{
		Report: r, Counts: reports.HeadlineOf(r), Tallies: talliesOf(r.Cells), Matrices: matrices(r.Cells, sc.keps, sc.titles), Legend: legend(),
		Verdict: verdictOf(r), When: ranAt(r.Cells), Ran: tookPart(r.Reproduce.Components),
		Command: runAgain(r), Install: r.Reproduce.Install(), InstallNote: r.Reproduce.InstallNote(), Reproduced: reproducedIn(r), Recorded: recorded(r.Cells, sc.findings), Worst: worstCases(r), Areas: sc.areas(), Choices: outcomesOf(r.Cells), Filters: filters(r, sc.keps),
		Ledgers: ledgers(r, sc.keps, sc.wordings), Strays: strayChecks(r),
		Policy: policy, Style: template.CSS(style), EarlyScript: template.JS(earlyScript), Script: template.JS(script),
	}
	if reports.ExitCode(r) != reports.ExitExpected {
		s.Said = render.Verdict(r)
	} else if s.Known = knownIn(s.Recorded); r.EmptyShard() {
		s.Known = ""
	}
	s.Headings = explained(s.Matrices)
	s.Attention = sc.attention()
	if len(s.Attention) > maxAttention {
		s.MoreAttention = len(s.Attention) - maxAttention
		s.Attention = s.Attention[:maxAttention]
	}
	for _, l := range s.Ledgers {
		s.Served += l.Served
	}
	return s
}

// New are the cells that need attention because they do not conform, NotJudged those that have
// no verdict.
func (s screen) New() []attention { return attentionOf(s.Attention, true) }

// NotJudged are those that New does not have.
func (s screen) NotJudged() []attention { return attentionOf(s.Attention, false) }

func attentionOf(all []attention, nonconforming bool) []attention {
	return reports.Only(all, func(a attention) bool { return a.Name.Nonconforming() == nonconforming })
}

// Entries says how many known deviations the cells show that deviate, and how many of these
// are not reported: the headline counts cells.
func (s screen) Entries() string {
	all, unreported := 0, 0
	for _, g := range s.Recorded {
		all, unreported = all+len(g.All), unreported+g.Unreported
	}
	h := s.Counts
	said := fmt.Sprintf("%s, which %s show", reports.Counted(all, "known deviation"), reports.Counted(h.Recorded+h.Ambiguous, "cell"))
	if unreported > 0 {
		said += fmt.Sprintf(". %d of the deviations are not reported upstream yet: %s show at least one of them", unreported, reports.Counted(h.Unreported, "cell"))
	}
	return said + "."
}

// Levels are what the levels of requirements mean.
func (s screen) Levels() map[string]string { return levels }

// verdictOf is the outcome that the whole run looks like, with a mark of its own. It has no
// tick if anything deviates.
func verdictOf(r reports.Report) outcome {
	switch reports.ExitCode(r) {
	case reports.ExitExpected:
	case reports.ExitNotJudged:
		return outcome{Name: reports.Unknown, Letter: "?"}
	default:
		return outcome{Name: reports.Fail, Letter: "✗"}
	}
	o := reports.Pass
	for _, c := range r.Cells {
		if c.Outcome.Recorded() && c.Outcome.Compare(o) > 0 {
			o = c.Outcome
		}
	}
	if o != reports.Pass {
		return outcome{Name: o, Letter: "≠"}
	}
	return outcome{Name: o, Letter: "✓"}
}

// talliesOf counts cells by outcome, the most severe first, without those of the reference.
func talliesOf(cells []reports.Cell) (all []tally) {
	without := ""
	counts := make(map[reports.Outcome]int)
	for _, c := range cells {
		if c.OfReference() {
			without = "no"
			continue
		}
		counts[c.Outcome]++
	}
	for _, o := range legend() {
		if n := counts[o.Name]; n > 0 {
			all = append(all, tally{outcome: o, Cells: n, Link: filterLink("outcome", string(o.Name), reference, without)})
		}
	}
	return all
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
		versions := reports.Each(of, func(c reports.Component) string { return c.Version })
		all = append(all, ran{of[0].Name, strings.Join(slices.Compact(versions), ", ")})
	}
	return all
}

// attention are the cells that need it, the most severe first.
func (sc scene) attention() (all []attention) {
	for _, i := range attentionFirst(sc.report.Cells) {
		c := sc.report.Cells[i]
		if c.Outcome.Expected() {
			continue
		}
		checks := reports.Only(c.Checks, func(check reports.Check) bool { return !check.Outcome.Expected() })
		// The check that decided comes first: its outcome is the cell's.
		slices.SortStableFunc(checks, func(x, y reports.Check) int { return y.Outcome.Compare(x.Outcome) })
		failures := reports.Grouped(checks, func(check reports.Check) string { return cmp.Or(sc.causes[c.ID][check.ID].Same, check.ID) })
		n := min(len(failures), maxAttentionChecks)
		a := attention{tile: cellTile(c), Of: sc.titles[c.Scenario], Reason: c.Reason, List: sc.lists[c.ID]}
		for _, more := range failures[n:] {
			a.More += len(more)
		}
		for _, of := range failures[:n] {
			check := of[0]
			looked := sc.causes[c.ID][check.ID]
			a.Checks = append(a.Checks, attentionCheck{
				check, looked.Cause, looked.Because, of[1:], sc.wordings[check.Requirement], sc.comparisons[c.ID][check.ID], sc.drafts[c.ID][check.ID], sc.entries[c.ID][check.ID],
			})
		}
		all = append(all, a)
	}
	return all
}

func cellTile(c reports.Cell) tile {
	return tile{outcome: shown(c.Outcome), Title: c.ID, Link: cellLink(c.ID)}
}

// areas are the cells by KEP: what needs attention comes first.
func (sc scene) areas() (areas []cellArea) {
	for _, i := range attentionFirst(sc.report.Cells) {
		c := sc.report.Cells[i]
		at := slices.IndexFunc(areas, func(a cellArea) bool { return a.KEP == c.KEP })
		if at < 0 {
			at = len(areas)
			areas = append(areas, cellArea{KEP: c.KEP, Title: sc.keps[c.KEP]})
		}
		areas[at].Cells = append(areas[at].Cells, cellRow{
			tile: cellTile(c), At: i, Of: sc.titles[c.Scenario], Took: render.Took(c.DurationSeconds), Reason: reports.Truncate(c.Reason, maxRowReason),
		})
	}
	return areas
}

// reference chooses cells by whether they are of the reference: "yes" or "no".
const reference = "reference"

// filters are what cells can be chosen by: the KEP, each component's release, and
// whether they are of the reference.
func filters(r reports.Report, titles map[string]string) []filter {
	keps := make(map[string]bool)
	for _, c := range r.Cells {
		keps[c.KEP] = true
	}
	all := []filter{{Name: "kep", Label: "KEP or area", Values: byRelease(keps), Titles: titles}}
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

var (
	webAddress   = regexp.MustCompile(`https?://[^\s<>"'()]+`)
	localAddress = regexp.MustCompile(`(?i)^https?://(?:127\.|0\.0\.0\.0|localhost(?::|/|$)|\[::)`)
)

// linked escapes a text, and makes links of the web addresses in it, but for those of the
// rig.
func linked(s string) template.HTML {
	s = render.Visible(s)
	var b strings.Builder
	last := 0
	for _, at := range webAddress.FindAllStringIndex(s, -1) {
		_, is := reports.WebAddress(s[at[0]:at[1]])
		if !is || localAddress.MatchString(s[at[0]:at[1]]) {
			continue // one of the rig ended with it
		}
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
