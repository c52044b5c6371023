// Package known excuses the failures that are known: it reads a list of
// deviations, each with a reason and a link, and applies it to what a run
// found. A list that no longer matches what is seen is itself a finding, so
// that it cannot rot: a listed check that passes is an unexpected pass, and an
// entry that matches nothing is a problem of the run.
//
// A list is a YAML file:
//
//	apiVersion: skewrig.dev/v1alpha1
//	kind: KnownDeviations
//	deviations:
//	- cells: kep-4939/skew/**
//	  checks: [never-restarted, "dialed-*"]
//	  requirement: KEP-4939/old-kubelet-ignores-mode
//	  releases: kubelet < 1.37
//	  reason: kubelets before v1.37 do not know the field
//	  link: https://github.com/kubernetes/kubernetes/issues/1
//
// What a maintainer is to read of is a finding: its entry says more, and may explain
// checks of several scenarios:
//
//	findings:
//	- id: old-kubelet-ignores-mode
//	  class: defect
//	  headline: A kubelet before v1.37 probes in plaintext
//	  instead: kubelets before v1.37 do not know the field
//	  effect: pods that are well are restarted
//	  at: ["https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/x.go#L7"]
//	  without: kubectl apply -f pod.yaml
//	  issue: https://github.com/kubernetes/kubernetes/issues/1
//	  explains:
//	  - {cells: kep-4939/skew/**, checks: never-restarted, releases: kubelet < 1.37}
//
// A list may have a preparation, shell functions that scripts share: those of findings
// with "prepared: true" come after it.
//
// The other fields are those of reports.Finding. A finding has an issue where it is
// reported, and otherwise a link.
//
// Cells and checks are patterns as package cellid defines them; checks may be
// one pattern or a list. At least one of checks and requirement has to be
// given, and where both are, a check has to match both.
//
// Releases is a range of package release, after the axis that it is about:
// "kubelet >= 1.35, < 1.38". Without an axis it is about every release in the id
// of a cell, and an id without a release is in no range. A range that is open
// also excuses releases to come; when one has a fix, its check is an unexpected
// pass until the range is closed.
package known

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/cellid"
)

// Kind says what a list is. Its apiVersion is that of reports.
const Kind = "KnownDeviations"

// List is a known-deviation list. The zero value excuses nothing.
type List struct {
	Deviations []Deviation
}

// Deviation is one entry of a list: checks that are known to fail.
type Deviation struct {
	// Cells matches the ids of the cells in which the checks fail.
	Cells cellid.Pattern `json:"cells"`
	// Checks match the ids of the checks. If unset, Requirement
	// decides alone.
	Checks Patterns `json:"checks,omitempty"`
	// Requirement is the id of the requirement that the checks serve. If
	// unset, Checks decide alone.
	Requirement string `json:"requirement,omitempty"`
	// Releases are those that are affected. If unset, all are.
	Releases Releases `json:"releases,omitzero"`
	// Reason says why the checks fail, and Link where that is discussed. Both may be
	// left to the finding that the entry is of.
	Reason string `json:"reason,omitempty"`
	Link   string `json:"link,omitempty"`
	// Finding is what the entry is of. If unset, nothing more is known.
	Finding *reports.Finding `json:"-"`
	// At is where the entry stands.
	At strict.Position `json:"-"`
}

// Findings returns what is known of the deviations that have an id.
func (l List) Findings() (all []reports.Finding) {
	for _, d := range l.Deviations {
		if d.Finding != nil {
			all = append(all, *d.Finding)
		}
	}
	return all
}

// Patterns match the ids of checks, any of them.
type Patterns []cellid.Pattern

// OneOrMore implements strict.OneOrMore.
func (Patterns) OneOrMore() {}

// Apply settles cells, and returns them with each listed check that failed made
// ExpectedFail, and each listed check that passed made UnexpectedPass. Other
// outcomes stay as they are: what was not judged is never excused, and neither
// is a check that fails now and then.
//
// A problem is returned for each entry that matches no check which could have
// failed, and for each check that has been through a list before. A cell that
// never got as far as its checks counts as a match: it is red already, and says
// nothing about the entry. NotRun are the ids of the cells that exist but were
// left out of this run: an entry for one of them is not stale, and neither is
// one for releases that are newer than those of all cells that it is about.
func Apply(list List, cells []reports.Cell, notRun []string) ([]reports.Cell, []strict.Problem) {
	applied := make([]reports.Cell, len(cells))
	used := make([]bool, len(list.Deviations))
	var problems []strict.Problem
	for i, c := range cells {
		c = c.Settled()
		for j, d := range list.Deviations {
			used[j] = used[j] || d.concerns(c)
		}
		var twice []strict.Problem
		applied[i], twice = list.applyTo(c)
		problems = append(problems, twice...)
		for k, check := range applied[i].Checks {
			applied[i].Checks[k].Like = list.like(applied[i], check, notRun)
		}
	}
	ids := append(reports.Each(cells, func(c reports.Cell) string { return c.ID }), notRun...)
	for j, d := range list.Deviations {
		if !used[j] && !slices.ContainsFunc(notRun, d.affects) && !d.Waits(ids) {
			problems = append(problems, strict.Problem{Position: d.At, Message: fmt.Sprintf(
				"matches no check of cells %s that could have failed: remove the entry, or correct it", d.about())})
		}
	}
	return applied, problems
}

// Excuse settles a single cell as Apply does.
func (l List) Excuse(c reports.Cell) reports.Cell {
	excused, _ := l.applyTo(c.Settled())
	return excused
}

func (l List) applyTo(c reports.Cell) (reports.Cell, []strict.Problem) {
	var problems []strict.Problem
	changed := false
	for i, check := range c.Checks {
		matching := l.matching(c, check)
		if len(matching) == 0 {
			continue
		}
		if of := matching[0].Finding; of != nil {
			c.Checks[i].Finding = of.ID
		}
		switch check.Outcome {
		case reports.Fail:
			c.Checks[i].Outcome = reports.ExpectedFail
			c.Checks[i].Reason = excuse(matching, check.Reason)
			changed = true
		case reports.Pass:
			c.Checks[i].Outcome = reports.UnexpectedPass
			c.Checks[i].Reason = stale(matching)
			changed = true
		case reports.Ambiguous, reports.ExpectedFail, reports.UnexpectedPass:
			problems = append(problems, strict.Problem{Position: matching[0].At, Message: fmt.Sprintf(
				"cell %s: check %s is %s already: apply a list once, to the outcomes of the checks", c.ID, check.ID, check.Outcome)})
		}
	}
	if changed {
		// Whatever reason the cell had was that of other outcomes.
		c.Outcome, c.Reason = "", ""
		c = c.Settled()
	}
	return c, problems
}

// like is the finding of the first entry for a check of other cells of the scenario, which
// ran or not. It is empty if the check did not fail, or is excused itself.
func (l List) like(c reports.Cell, check reports.Check, notRun []string) string {
	if check.Outcome != reports.Fail {
		return ""
	}
	for _, d := range l.Deviations {
		others := slices.ContainsFunc(notRun, func(id string) bool { return cellid.Trunk(id) == c.Scenario && d.affects(id) })
		if d.Finding != nil && d.names(check) && (others || d.matches(c.ID)) {
			return d.Finding.ID
		}
	}
	return ""
}

// matching returns the entries for a check.
func (l List) matching(c reports.Cell, check reports.Check) []Deviation {
	return reports.Only(l.Deviations, func(d Deviation) bool { return d.affects(c.ID) && d.names(check) })
}

func (d Deviation) names(check reports.Check) bool {
	if d.Requirement != "" && d.Requirement != check.Requirement {
		return false
	}
	if len(d.Checks) == 0 {
		return d.Requirement != ""
	}
	return slices.ContainsFunc(d.Checks, func(p cellid.Pattern) bool { return p.Match(check.ID) })
}

func (d Deviation) concerns(c reports.Cell) bool {
	if !d.affects(c.ID) {
		return false
	}
	return !c.Outcome.Judged() && c.Outcome != reports.NotApplicable ||
		slices.ContainsFunc(c.Checks, func(check reports.Check) bool { return d.names(check) && check.Outcome != reports.NotApplicable })
}

func (d Deviation) affects(id string) bool {
	return d.matches(id) && d.Releases.in(id)
}

// Waits reports whether it is for releases that are newer than those of all cells that it is about, of the cells with these
// ids. There must be one.
func (d Deviation) Waits(ids []string) bool {
	about := reports.Only(ids, d.matches)
	return len(about) > 0 && !slices.ContainsFunc(about, func(id string) bool { return !d.Releases.after(id) })
}

// matches reports whether its cells are about one, on whichever container runtime that ran.
func (d Deviation) matches(id string) bool {
	return d.Cells.Match(id) || d.Cells.Match(cellid.AsPlanned(id))
}

func (d Deviation) about() string {
	if d.Releases.unset() {
		return d.Cells.String()
	}
	return fmt.Sprintf("%s with releases %s", d.Cells, d.Releases)
}

func excuse(matching []Deviation, own string) string {
	reasons := reports.Each(matching, Deviation.because)
	if own != "" {
		reasons = append(reasons, "the check said: "+own)
	}
	return strings.Join(reasons, "; ")
}

func stale(matching []Deviation) string {
	entries := reports.Each(matching, func(d Deviation) string { return fmt.Sprintf("%s lists it as failing: %s", d.At, d.because()) })
	return strings.Join(entries, "; ")
}

func (d Deviation) because() string {
	var about []string
	if !d.Releases.unset() {
		about = append(about, d.Releases.words())
	}
	if d.Finding != nil && d.Finding.Issue == "" {
		about = append(about, "not reported yet")
	}
	if len(about) == 0 {
		return fmt.Sprintf("%s (%s)", d.Reason, d.Link)
	}
	return fmt.Sprintf("%s (%s: %s)", d.Reason, strings.Join(about, ", "), d.Link)
}
