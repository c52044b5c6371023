package page

import (
	"html/template"

	"github.com/skewrig/skewrig/reports"
)

// strays are checks that need attention and belong to no requirement: without them,
// the requirements of a red run can all be green.
type strays struct {
	// Fate is what became of them, in a word or two.
	Fate  string
	Links []strayLink
	// More is how many there are beyond the links.
	More int
}

type strayLink struct {
	Cell, Check string
	Link        template.URL
}

// maxStrays is how many of such checks are named.
const maxStrays = 9

// Count is how many they are.
func (s strays) Count() int { return len(s.Links) + s.More }

// strayChecks are those that failed, and those that were not judged; no group is empty.
func strayChecks(r reports.Report) (groups []strays) {
	stated := make(map[string]bool)
	for _, q := range r.Requirements {
		stated[q.ID] = true
	}
	failed, unjudged := strays{Fate: "failed"}, strays{Fate: "could not be judged"}
	for _, c := range r.Cells {
		for _, check := range c.Checks {
			switch o := check.Outcome; {
			case o.Expected() || stated[check.Requirement]:
			case o.Nonconforming():
				failed.add(c, check)
			default:
				unjudged.add(c, check)
			}
		}
	}
	for _, s := range []strays{failed, unjudged} {
		if s.Count() > 0 {
			groups = append(groups, s)
		}
	}
	return groups
}

func (s *strays) add(c reports.Cell, check reports.Check) {
	if len(s.Links) == maxStrays {
		s.More++
		return
	}
	s.Links = append(s.Links, strayLink{Cell: c.ID, Check: check.ID, Link: cellLink(c.ID) + template.URL("&check="+escape(check.ID))})
}
