package page

import (
	"cmp"
	"slices"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/evidence"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/reports/render"
)

// pageInput is a run with what the first screen shows of it, and the data behind that.
type pageInput struct {
	Run

	findings []finding.Finding
	// keps are the titles of KEPs and areas, scenarios those of scenarios, and scaled says
	// for what time runs faster there, by their ids.
	keps, scenarios, scaled map[string]string
	// lists are the lists of known deviations that new ones belong to, by cell.
	lists map[string]string
	// cases are the checks that failed and that no list has, by cell and check.
	cases map[string]map[string]finding.Case
	// first are the cells that need attention, as far as the first screen lists them, the
	// most severe first.
	first []packed
}

func newPageInput(run Run) pageInput {
	t := pageInput{
		Run: run, keps: kepTitles(run.Report.Requirements), lists: run.lists(),
		findings: finding.All(evidence.Run{Report: run.Report, Facts: run.Facts}, run.Sentences),
	}
	t.scenarios, t.scaled = run.plans()
	order := attentionFirst(run.Report.Cells)
	n := slices.IndexFunc(order, func(i int) bool { return run.Report.Cells[i].Outcome.Expected() })
	if n < 0 {
		n = len(order)
	}
	t.first = slices.Collect(run.narrations(order[:min(n, maxAttention)]))
	t.cases = t.casesOf()
	finding.InWords(t.findings, run.Report, t.narrationOf)
	return t
}

// narrationOf is the narration of a cell that the first screen may list; nil if it has none.
func (t pageInput) narrationOf(c reports.Cell) *narrate.Narration {
	for _, p := range t.first {
		if t.Report.Cells[p.cell].ID == c.ID {
			return p.Narration
		}
	}
	return nil
}

// lists are the lists of known deviations that those of cells belong to which no list has.
func (run Run) lists() map[string]string {
	all := make(map[string]string)
	for _, c := range run.Report.Cells {
		if run.List != nil && c.Outcome == reports.Fail {
			all[c.ID] = run.List(c)
		}
	}
	return all
}

// maxCases is how many failed checks have a draft of their own: further ones share that of
// their finding.
const maxCases = 200

// casesOf gathers the cases of the findings that no list has.
func (t pageInput) casesOf() map[string]map[string]finding.Case {
	narrations, cells := make(map[string]*narrate.Narration), make(map[string]reports.Cell)
	for _, p := range t.first {
		narrations[t.Report.Cells[p.cell].ID] = p.Narration
	}
	for _, c := range t.Report.Cells {
		cells[c.ID] = c
	}
	run := evidence.Run{Report: t.Report, Facts: t.Facts}
	all := make(map[string]map[string]finding.Case)
	n := 0
	for _, f := range t.findings {
		for _, o := range f.New() {
			if n++; n > maxCases {
				return all
			}
			c := cells[o.Cell]
			at := slices.IndexFunc(c.Checks, func(check reports.Check) bool { return check.ID == o.Check })
			of := finding.NewCase(run, f, c, c.Checks[at], narrations[c.ID])
			of.Again = t.again(c).Command
			if all[c.ID] == nil {
				all[c.ID] = make(map[string]finding.Case)
			}
			all[c.ID][o.Check] = of
		}
	}
	return all
}

// comparisons are what is known of failed checks beside their cells, by cell and check, and
// on what the other reading rests of ambiguous ones.
func (t pageInput) comparisons() map[string]map[string]comparison {
	listed := func(id string) bool {
		return slices.ContainsFunc(t.findings, func(f finding.Finding) bool { return f.ID == id })
	}
	all := make(map[string]map[string]comparison)
	add := func(cell, check string, of comparison) {
		if of.empty() {
			return
		}
		if all[cell] == nil {
			all[cell] = make(map[string]comparison)
		}
		all[cell][check] = of
	}
	for cell, checks := range t.cases {
		for id, c := range checks {
			add(cell, id, comparisonOf(c, listed))
		}
	}
	readings := reports.ReadingsOf(t.Report.Requirements)
	for _, c := range t.Report.Cells {
		for _, check := range c.Checks {
			if rests := readings.Rests(c, check); len(rests) > 0 {
				add(c.ID, check.ID, ambiguityOf(check, rests))
			}
		}
	}
	return all
}

// entries are what to add to a list of known deviations, if a failed check is known, by cell
// and check. Those that fail for one failure have one entry.
func (t pageInput) entries() map[string]map[string]string {
	texts := wordings(t.Report.Requirements, t.Sentences)
	all := make(map[string]map[string]string)
	for cell, checks := range t.cases {
		if t.lists[cell] == "" {
			continue
		}
		all[cell] = make(map[string]string)
		for id, c := range checks {
			all[cell][id] = known.Draft{
				Cells: cell, Checks: append([]string{id}, c.Also...), Reason: reports.Truncate(render.Visible(cmp.Or(c.Cause, c.Headline)), maxEntryReason), Link: texts[c.Check.Requirement].Text.Address,
			}.YAML()
		}
	}
	return all
}

// maxEntryReason is how long the reason in such an entry is, in runes.
const maxEntryReason = 300

// scene is what the first screen is made of.
func (t pageInput) scene() scene {
	causes := make(map[string]map[string]narrate.Check)
	for _, p := range t.first {
		if p.Narration == nil {
			continue
		}
		of := make(map[string]narrate.Check)
		for _, check := range p.Narration.Checks {
			of[check.ID] = check
		}
		causes[t.Report.Cells[p.cell].ID] = of
	}
	return scene{
		report: t.Report, findings: t.findings, keps: t.keps, titles: t.scenarios, causes: causes, drafts: t.unlisted(), comparisons: t.comparisons(), lists: t.lists, entries: t.entries(), wordings: wordings(t.Report.Requirements, t.Sentences),
	}
}
