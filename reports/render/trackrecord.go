package render

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// shelf is the area of the cells that show known bugs.
const shelf = "regressions"

// TrackRecord writes, as Markdown, which bugs of the shelf of regressions a run
// found on which releases: where it must be red, where it must be green, which
// it was, and the one command that shows it again. The known deviations of a
// release say where it must be red.
func TrackRecord(w io.Writer, r reports.Report) error {
	var m markdown
	m.printf("# Track record\n\nBugs of Kubernetes that are known, and the releases on which scenarios find them.\n")
	cells := make(map[string]reports.Cell)
	for _, c := range r.Cells {
		cells[c.ID] = c
	}
	for _, q := range r.Requirements {
		if q.KEP == shelf {
			m.bug(q, cells)
		}
	}
	m.printf("\nThe whole shelf at once: `skewrig run '%s/**'`\n", shelf)
	return m.writeTo(w, "the track record")
}

// bug writes what the cells of one bug show.
func (m *markdown) bug(q reports.Requirement, cells map[string]reports.Cell) {
	m.printf("\n## %s\n\n%s\n%s\n\n", code(q.ID), text(q.Statement), text(q.Source))
	var rows [][]string
	for _, id := range q.Cells {
		c := cells[id]
		var releases []string
		for _, axis := range slices.Sorted(maps.Keys(c.Axes)) {
			releases = append(releases, axis+" "+c.Axes[axis])
		}
		must, is, finders := color(c)
		rows = append(rows, []string{
			text(strings.Join(releases, ", ")), must, is, code(strings.Join(finders, ", ")), code("skewrig run " + id),
		})
	}
	m.table(rows, "releases", "must be", "is", "found by", "command")
}

// color says what a cell must be and what it is, and which checks found the bug.
func color(c reports.Cell) (must, is string, finders []string) {
	const red, green = "red", "green"
	must, is = green, green
	for _, check := range c.Checks {
		if check.Outcome == reports.ExpectedFail || check.Outcome == reports.UnexpectedPass {
			must = red
		}
		if check.Outcome == reports.Fail || check.Outcome == reports.ExpectedFail {
			is = red
			finders = append(finders, check.ID)
		}
	}
	if !c.Outcome.Judged() {
		is = string(c.Outcome)
	}
	return must, is, finders
}
