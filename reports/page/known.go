package page

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// knownIn says in a sentence that a run has nothing new, and which deviations are known: as
// many as the page shows.
func knownIn(groups []recordings) string {
	var all []deviation
	for _, g := range groups {
		all = append(all, g.All...)
	}
	if len(all) == 0 {
		return "Nothing new, everything conforms"
	}
	kinds := reports.Each(reports.Grouped(all, deviation.kind), func(of []deviation) string { return of[0].kind().count(len(of)) })
	return fmt.Sprintf("Nothing new. %s: %s", reports.Counted(len(all), "known deviation"), strings.Join(kinds, ", "))
}

// kind is what a deviation is counted as in the sentence.
type kind struct{ one, more string }

// count says how many deviations are of a kind.
func (k kind) count(n int) string {
	if n == 1 {
		return "1 " + k.one
	}
	return fmt.Sprintf("%d %s", n, k.more)
}

// kind is what the deviation is, and whether it is reported.
func (d deviation) kind() kind {
	reported := map[bool]string{true: " reported", false: " not reported"}[d.Issue != ""]
	text := "a text"
	if strings.HasPrefix(d.Requirement, "KEP-") {
		text = "a KEP's text"
	}
	switch {
	case d.ID == "":
		return kind{"of a list of the run's own", "of a list of the run's own"}
	case d.Class == reports.Defect:
		return kind{"defect" + reported, "defects" + reported}
	case d.Class.OfText():
		return kind{"error of " + text + reported, "errors of " + text + reported}
	case d.Class == reports.KnownBug && d.Issue != "":
		return kind{"reported bug", "reported bugs"}
	case d.Class == reports.KnownBug:
		return kind{"known bug" + reported, "known bugs" + reported}
	}
	return kind{"without a class" + reported, "without a class" + reported}
}
