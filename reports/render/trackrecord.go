package render

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// regressions is the area of the cells that reproduce known bugs.
const regressions = "regressions"

// TrackRecord writes, as Markdown, which known regressions a run detected on
// which releases: the expected and the observed color, and the command that
// reproduces it. A cell must be red if a known deviation says so.
func TrackRecord(w io.Writer, r reports.Report) error {
	var m markdown
	m.printf("# Track record\n\nKnown regressions of Kubernetes, and the releases on which scenarios detect them.\n")
	cells := make(map[string]reports.Cell)
	for _, c := range r.Cells {
		cells[c.ID] = c
	}
	for _, q := range r.Requirements {
		if q.KEP == regressions {
			m.bug(q, cells)
		}
	}
	m.printf("\nAll known regressions: `skewrig run '%s/**'`\n", regressions)
	return m.writeTo(w, "the track record")
}

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
	m.table(rows, "releases", "expected", "observed", "detected by", "command")
}

// color returns the expected and the observed color of a cell, and the checks
// that detected the bug.
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
