package page

import (
	"html/template"

	"github.com/skewrig/skewrig/reports"
)

// strays are checks that need attention and belong to no requirement: without them,
// the requirements of a red run can all be green.
type strays struct {
	// Fate is what became of them, in a word or two.
	Fate string
	// Count is how many they are, and More how many of them are not among the links.
	Count, More int
	Links       []strayLink
}

type strayLink struct {
	Cell, Check string
	Link        template.URL
}

// maxStrays is how many of such checks are named.
const maxStrays = 9

// strayChecks are those that failed, and those that were not judged; no group is empty.
func strayChecks(r reports.Report) (groups []strays) {
	const failed, unjudged = "failed", "could not be judged"
	stated := make(map[string]bool)
	for _, q := range r.Requirements {
		stated[q.ID] = true
	}
	links := make(map[string][]strayLink)
	for _, c := range r.Cells {
		for _, check := range c.Checks {
			if check.Outcome.Expected() || stated[check.Requirement] {
				continue
			}
			fate := unjudged
			if check.Outcome.Nonconforming() {
				fate = failed
			}
			links[fate] = append(links[fate], strayLink{Cell: c.ID, Check: check.ID, Link: cellLink(c.ID) + template.URL("&check="+escape(check.ID))})
		}
	}
	for _, fate := range []string{failed, unjudged} {
		if n := len(links[fate]); n > 0 {
			groups = append(groups, strays{Fate: fate, Count: n, More: max(0, n-maxStrays), Links: links[fate][:min(n, maxStrays)]})
		}
	}
	return groups
}
