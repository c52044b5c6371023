package page

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/render"
)

// recordings are the deviations of a class that a list has.
type recordings struct {
	Class reports.Class
	// Heading is what the class means. Unreported is how many of them are not reported.
	Heading    string
	Unreported int
	All        []deviation
}

// deviation is something that releases do otherwise than a text says, with the cells in
// which they did.
type deviation struct {
	finding.Finding

	// Reason is what is written about it where there is no finding.
	Reason string
	// Owner is who can mend it. If unset, that is not known.
	Owner string
	Tiles []tile
	// More is how many cells there are beyond the tiles.
	More int
}

// Cells is in how many cells it was seen.
func (d deviation) Cells() int { return len(d.Tiles) + d.More }

// Act says what the draft of the deviation is copied as: an issue, or a comment where it is
// reported already.
func (d deviation) Act() string {
	switch name := reports.IssueName(d.Issue); {
	case d.Issue == "":
		return copyAsIssue
	case name == "":
		return "Copy as comment"
	default:
		return "Copy as comment on " + name
	}
}

// copyAsIssue is what the draft of something new is copied as.
const copyAsIssue = "Copy as issue"

// ScriptNote says whether the script of a deviation was ever run.
func (d deviation) ScriptNote() string { return reports.ScriptNote }

// SeenOn is the releases on which it was seen, briefly.
func (d deviation) SeenOn() string { return render.SeenOn(d.Finding) }

// Places are where it is decided.
func (d deviation) Places() (all []place) {
	return reports.Each(d.At, placeOf)
}

// place is a place in a text or in code. Without an address it is no link.
type place struct{ Name, Address string }

func placeOf(address string) place {
	if _, is := reports.WebAddress(address); !is {
		return place{Name: address}
	}
	return place{render.Place(address), address}
}

// Text is where the statement stands.
func (d deviation) Text() place { return textPlace(d.Source, d.Document, d.Line, d.Beyond) }

// textPlace is where a statement stands: a line of a document, or what it is from.
func textPlace(source, document string, line int, beyond string) place {
	if _, is := reports.WebAddress(source); is && line == 0 {
		return place{Name: "source", Address: source}
	}
	switch {
	case line == 0 && beyond != "":
		return place{Name: source + ", in no sentence; from " + beyond}
	case line == 0:
		return place{Name: source}
	}
	p := place{Name: fmt.Sprintf("%s, line %d", source, line)}
	if _, is := reports.WebAddress(document); is {
		p.Address = fmt.Sprintf("%s?plain=1#L%d", document, line)
	}
	return p
}

// maxDeviationTiles is how many cells a deviation shows.
const maxDeviationTiles = 12

// recorded gathers what a run has seen that is on a list of known deviations: by class,
// by weight, those without a finding last and those of most cells first.
func recorded(cells []reports.Cell, findings []finding.Finding) (groups []recordings) {
	var all []deviation
	for _, of := range reports.Grouped(excusedIn(cells), func(e excused) string { return e.why() }) {
		d := deviation{Reason: of[0].Reason, More: max(0, len(of)-maxDeviationTiles)}
		if i := slices.IndexFunc(findings, func(f finding.Finding) bool { return f.ID == of[0].Finding }); i >= 0 {
			d.Finding = findings[i]
			d.Owner = d.Finding.Owner()
		}
		for _, e := range of[:len(of)-d.More] {
			d.Tiles = append(d.Tiles, e.tile)
		}
		all = append(all, d)
	}
	slices.SortStableFunc(all, func(a, b deviation) int {
		return cmp.Or(rank(a.Class)-rank(b.Class), a.Compare(b.Finding.Finding), b.Cells()-a.Cells())
	})
	for _, of := range reports.Grouped(all, func(d deviation) reports.Class { return d.Class }) {
		g := recordings{Class: of[0].Class, Heading: cmp.Or(of[0].Class.Meaning(), "Without a class"), All: of}
		for _, d := range of {
			if d.ID != "" && d.Issue == "" {
				g.Unreported++
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// rank is the place of a class by weight: what has none comes last.
func rank(c reports.Class) int {
	if i := slices.Index(reports.Classes(), c); i >= 0 {
		return i
	}
	return len(reports.Classes())
}

// excused is a check of a cell that deviates as a list says.
type excused struct {
	reports.Check

	tile tile
}

// why is what excuses it: the finding, or what is written about it.
func (e excused) why() string { return cmp.Or(e.Finding, e.Reason) }

// excusedIn are such checks, of each cell one for each cause.
func excusedIn(cells []reports.Cell) (all []excused) {
	for _, c := range cells {
		seen := make(map[string]bool)
		for _, check := range c.Checks {
			if e := (excused{check, cellTile(c)}); check.Outcome.Recorded() && !seen[e.why()] {
				seen[e.why()] = true
				all = append(all, e)
			}
		}
	}
	return all
}

// issues are the drafts with which deviations are reported, as the command "skewrig
// finding ID -o issue" prints them. Of what no list has, each failed check of a cell has one
// of its own.
type issues map[string]string

func (t pageInput) issues() (issues, error) {
	drafts := make(issues)
	for _, f := range t.findings {
		var b bytes.Buffer
		if err := render.Issue(&b, t.Report, f); err != nil {
			return nil, err
		}
		drafts[f.ID] = b.String()
		for _, o := range f.New() {
			c, has := t.cases[o.Cell][o.Check]
			if !has {
				continue
			}
			var b bytes.Buffer
			if err := render.CaseIssue(&b, t.Report, f, c); err != nil {
				return nil, err
			}
			drafts[draftOf(f, o)] = b.String()
		}
	}
	return drafts, nil
}

// draftOf names the draft of a failed check of a cell.
func draftOf(f finding.Finding, o finding.Observation) string { return f.ID + " in " + o.Cell }

// shownFinding is what the scripts know of a finding.
type shownFinding struct {
	Headline string        `json:"headline"`
	Class    reports.Class `json:"class"`
	Instead  string        `json:"instead"`
	Effect   string        `json:"effect,omitempty"`
	Owner    string        `json:"owner,omitempty"`
	Issue    string        `json:"issue,omitempty"`
	Places   []place       `json:"places,omitempty"`
	// Act is what its draft is copied as.
	Act string `json:"act"`
	// Script shows it without skewrig. If unset, there is none.
	Script string `json:"script,omitempty"`
}

// knownBy are the findings by their ids.
func knownBy(findings []finding.Finding) map[string]shownFinding {
	all := make(map[string]shownFinding)
	for _, f := range findings {
		d := deviation{Finding: f}
		all[f.ID] = shownFinding{Headline: f.Headline, Class: f.Class, Instead: f.Instead, Effect: f.Effect, Owner: f.Owner(), Issue: f.Issue, Places: d.Places(), Act: d.Act(), Script: f.Script()}
	}
	return all
}

// unlisted are the names of the drafts of what no list has, by cell and check.
func (t pageInput) unlisted() map[string]map[string]string {
	all := make(map[string]map[string]string)
	for _, f := range t.findings {
		for _, o := range f.New() {
			if all[o.Cell] == nil {
				all[o.Cell] = make(map[string]string)
			}
			all[o.Cell][o.Check] = f.ID
			if _, has := t.cases[o.Cell][o.Check]; has {
				all[o.Cell][o.Check] = draftOf(f, o)
			}
		}
	}
	return all
}

// relatedDeviation is a recorded deviation that a failed check has to do with, as a page says it.
type relatedDeviation struct {
	Said    string `json:"said"`
	Finding string `json:"finding,omitempty"`
	// Instead is what happens, by the record, and Places where in the code it is decided.
	Instead string  `json:"instead,omitempty"`
	Places  []place `json:"places,omitempty"`
}

// comparison is what else is known of the check that failed in a cell.
type comparison struct {
	Like []relatedDeviation `json:"like,omitempty"`
	// Holds says in which other cells it passes.
	Holds string `json:"holds,omitempty"`
	// Twins are the check, and the one of the same cell that passes and is most like it; of an
	// ambiguous one, those on which the other reading rests. If unset, there is none.
	Twins []shownCheck `json:"twins,omitempty"`
	// Links are some of the cells in which it passes.
	Links []string `json:"links,omitempty"`
}

// shownCheck is a check in a table of two.
type shownCheck struct {
	// Said says which of both it is.
	Said     string `json:"said"`
	ID       string `json:"id"`
	Expected string `json:"expected"`
	Observed string `json:"observed"`
}

// closestOf returns the check of a case and the one that is most like it, if there is one.
func closestOf(c finding.Case) []shownCheck {
	if c.Closest.ID == "" {
		return nil
	}
	return []shownCheck{
		{"this check", c.Check.ID, c.Check.Expected, c.Check.Observed},
		{"that check, which passes", c.Closest.ID, c.Closest.Expected, c.Closest.Observed},
	}
}

// maxRests is how many checks are shown on which the other reading of a text rests.
const maxRests = 3

// ambiguityOf shows an ambiguous check beside those on which the other reading rests.
func ambiguityOf(check reports.Check, rests []reports.Check) (of comparison) {
	of.Twins = []shownCheck{{"this check", check.ID, check.Expected, check.Observed}}
	for _, c := range rests[:min(len(rests), maxRests)] {
		of.Twins = append(of.Twins, shownCheck{"of the other reading, which passes", c.ID, c.Expected, c.Observed})
	}
	return of
}

// maxHolds is how many cells are linked in which a check passes.
const maxHolds = 3

// comparisonOf is what is said of a case.
func comparisonOf(c finding.Case, listed func(id string) bool) (of comparison) {
	for _, k := range c.Related {
		l := relatedDeviation{Said: k.Advice(c.Cell.ID), Instead: reports.Sentence(k.Finding.Instead), Places: deviation{Finding: finding.Finding{Finding: k.Finding}}.Places()}
		if listed(k.Finding.ID) {
			l.Finding = k.Finding.ID
		}
		of.Like = append(of.Like, l)
	}
	of.Holds, of.Twins = reports.PassesElsewhere(c.Cell.ID, c.PassesIn), closestOf(c)
	of.Links = c.PassesIn[:min(len(c.PassesIn), maxHolds)]
	return of
}

func (c comparison) empty() bool { return len(c.Like) == 0 && c.Holds == "" && len(c.Twins) == 0 }
