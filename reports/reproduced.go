package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/skewrig/skewrig/record"
)

// Regressions is the area of the cells that reproduce known bugs, and begins the ids of
// the requirements that say what must not happen again.
const Regressions = "regressions"

// Reproduction is a known bug that a cell shows, as is recorded.
type Reproduction struct {
	// Bug is its short name: "kubernetes#141961". Link is where it is reported.
	Bug, Link string
	// Seen is what was observed, in words: "12 replicasets, at most 2 expected".
	Seen string
	// Headline is the finding's. If unset, nothing more is known of the bug.
	Headline string
}

// ReproductionOf returns the known bug that a cell of the report reproduces, if it is
// one of a known regression and came out red as recorded.
func ReproductionOf(c Cell, r Report) (Reproduction, bool) {
	checks := slices.DeleteFunc(slices.Clone(c.Checks), func(check Check) bool {
		return check.Outcome != ExpectedFail || !strings.HasPrefix(check.Requirement, Regressions+"/")
	})
	if c.Outcome != ExpectedFail || len(checks) == 0 {
		return Reproduction{}, false
	}
	first := checks[0]
	finding := FindingOf(r.Findings, first.Finding)
	bug := Reproduction{Bug: strings.TrimPrefix(first.Requirement, Regressions+"/"), Headline: finding.Headline, Seen: first.ID + " " + observation(first)}
	if finding.Seen != "" {
		bug.Seen = finding.seenIn(checks)
	}
	if i := slices.IndexFunc(r.Requirements, func(q Requirement) bool { return q.ID == first.Requirement }); i >= 0 {
		if at := issueAddress.FindStringSubmatch(r.Requirements[i].Source); at != nil {
			bug.Link, bug.Bug = at[0], IssueName(at[0])
		}
	}
	return bug, true
}

// issueAddress is the address of an issue or a pull request, with repository and number.
var issueAddress = regexp.MustCompile(`https://github\.com/[\w.-]+/([\w.-]+)/(?:issues|pull)/(\d+)`)

// IssueName is the short name of an issue or a pull request on GitHub: "kubernetes#141961". Of
// another address it is empty.
func IssueName(address string) string {
	at := issueAddress.FindStringSubmatch(address)
	if at == nil {
		return ""
	}
	return at[1] + "#" + at[2]
}

// seenIn is the finding's sentence of what is seen, with the values of the checks that saw it.
func (f Finding) seenIn(checks []Check) string {
	grew := growthOf(checks)
	return strings.NewReplacer(
		"{observed}", strings.Trim(checks[0].Observed, `" `), "{number}", strconv.Itoa(grew.to), "{limit}", strconv.Itoa(grew.most),
	).Replace(f.Seen)
}

// observation says what a check observed and what it expected, without the expression that
// gave it. A finding that a report of an earlier skewrig names has nothing better.
func observation(c Check) string {
	expected := c.Expected
	if e, is := c.Expectation(); is && e.Relation != Grows && e.Mode != record.Never {
		expected = e.Wanted
	}
	return fmt.Sprintf("observed %s, expected %s", c.Observed, expected)
}

// growth is a number of things that grew by more than it may have.
type growth struct {
	expression string
	to, most   int
}

var grewBy = regexp.MustCompile(`^\d+ more, from (\d+) to (\d+)$`)

// growthOf returns the growth that the first of some checks observed. Of further checks
// on the same number, the highest that was observed and the lowest limit count. If nothing
// grew, it is empty.
func growthOf(checks []Check) (all growth) {
	for _, c := range checks {
		observed := grewBy.FindStringSubmatch(c.Observed)
		e, is := c.Expectation()
		if observed == nil || !is || e.Relation != Grows || e.Mode != record.AtMost {
			continue
		}
		from, _ := strconv.Atoi(observed[1]) // these are digits
		to, _ := strconv.Atoi(observed[2])
		switch all.expression {
		case "":
			all = growth{e.Observe, to, from + e.Times}
		case e.Observe:
			all.to, all.most = max(all.to, to), min(all.most, from+e.Times)
		}
	}
	return all
}
