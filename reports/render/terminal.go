package render

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// TerminalOptions say how Terminal writes.
type TerminalOptions struct {
	// Color writes outcomes in colors, by the escape sequences of ECMA-48. It
	// is for the caller to know whether the reader understands them.
	Color bool
	// Width is how many columns a line may have. If unset, lines are as long as what
	// is in them: the reader is no terminal.
	Width int
	// Report is the directory of the report. If unset, nothing is said of where more
	// is to be seen.
	Report string
	// Page is the file name of the page in it.
	Page string
	// Listed says that the reader has seen a line of each cell that ran: those that pass are
	// left out.
	Listed bool
	// Causes returns why checks of a cell do not hold, by their ids. If unset, it is not
	// known.
	Causes func(reports.Cell) map[string]string
}

// Terminal writes what a report has to say, what weighs most last: cells that pass,
// counted by area, the others by outcome with the whole reason, the headline, and where
// to look. No text of the report can control the terminal.
func Terminal(w io.Writer, r reports.Report, options TerminalOptions) error {
	t := terminal{color: options.Color, width: options.Width, causes: options.Causes}
	for _, outcome := range reports.Outcomes() {
		if !options.Listed || outcome != reports.Pass {
			t.section(outcome, r)
		}
		if outcome == reports.ExpectedFail {
			t.reproduced(r)
		}
	}
	for _, problem := range r.Problems {
		t.indented("problem", oneLine(problem, maxText), len("problem  "), t.width)
		t.printf("\n")
	}
	t.indented("", reports.HeadlineOf(r).String(), 0, t.width)
	t.printf("%s\n", Verdict(r))
	if r.Partial != "" {
		t.indented("", "Partial: "+oneLine(r.Partial, maxText), 0, t.width)
	}
	t.whereToLook(r, options)
	return t.writeTo(w, "a report to the terminal")
}

type terminal struct {
	gathered
	color  bool
	width  int
	causes func(reports.Cell) map[string]string // nil if they are not known
}

// telling is how checks of a cell are shown, with why they do not hold.
func (t *terminal) telling(c reports.Cell, r reports.Report) telling {
	how := inWords(r)
	if t.causes != nil {
		how.causes = t.causes(c)
	}
	return how
}

// section writes the cells that have an outcome.
func (t *terminal) section(outcome reports.Outcome, r reports.Report) {
	cells := reports.Only(r.Cells, func(c reports.Cell) bool { return c.Outcome == outcome && !reproduces(c, r) })
	if len(cells) == 0 {
		return
	}
	t.printf("%s\n", t.outcome(outcome, 0))
	switch {
	case outcome == reports.Pass:
		t.passed(cells)
	case outcome.Expected():
		t.recorded(cells)
	default:
		t.attention(cells, r)
	}
	t.printf("\n")
}

// maxNamed is how many cells of an area are named though they pass.
const maxNamed = 3

// passed writes cells that pass: of an area with many how many there are, by the pattern
// that selects them all.
func (t *terminal) passed(cells []reports.Cell) {
	for _, area := range reports.Grouped(cells, func(c reports.Cell) string { return areaOf(c.ID) }) {
		if len(area) > maxNamed {
			t.indented("", fmt.Sprintf("%s: %s", areaOf(area[0].ID), reports.Counted(len(area), "cell")), indent, t.width)
			continue
		}
		for _, c := range area {
			t.cell(c)
			t.reason(inRuns(c))
		}
	}
}

func areaOf(id string) string {
	area, _, _ := strings.Cut(id, "/")
	return oneLine(area, maxText)
}

// recorded writes cells with the reason why they are as expected, those of one reason
// together.
func (t *terminal) recorded(cells []reports.Cell) {
	for _, alike := range reports.Grouped(cells, inRuns) {
		for _, c := range alike {
			t.cell(c)
		}
		t.reason(inRuns(alike[0]))
	}
}

// attention writes cells with all that is known of the checks that decided.
func (t *terminal) attention(cells []reports.Cell, r reports.Report) {
	for _, c := range cells {
		t.cell(c)
		t.fields(details(c, t.telling(c, r)), "    ", t.width)
	}
}

// reproduced writes the known bugs that cells show as recorded, and these cells.
func (t *terminal) reproduced(r reports.Report) {
	for _, bug := range Reproductions(r) {
		t.indented("", bug.Said, 0, t.width)
		for _, c := range bug.Cells {
			t.cell(c)
		}
		t.reason(bug.Headline)
		t.reason(bug.Link)
		t.printf("\n")
	}
}

// indent is where ids and reasons begin.
const indent = 10

// cell writes a line that names a cell, with how long it took.
func (t *terminal) cell(c reports.Cell) {
	t.indented(fmt.Sprintf("%8s", Took(c.DurationSeconds)), oneLine(c.ID, maxText), indent, t.width)
	t.reason(standIns(c))
}

// standIns says which components of a cell were compiled with stand-ins. It is empty if none was.
func standIns(c reports.Cell) string {
	if len(c.StandIns) == 0 {
		return ""
	}
	return "compiled with stand-ins: " + strings.Join(c.StandIns, "; ")
}

// reason writes what there is to say of the cells above.
func (t *terminal) reason(said string) {
	if said != "" {
		t.indented("", oneLine(said, maxText), indent, t.width)
	}
}

// inRuns is the reason of a cell. Of one that has none, it is how many times it
// ran, if that is not once.
func inRuns(c reports.Cell) string {
	if c.Reason == "" && len(c.Runs) > 0 {
		return reports.Counted(len(c.Runs), "run")
	}
	return c.Reason
}

// whereToLook says where all of a report is to be seen, and how one cell of it: the
// first that is most severe.
func (t *terminal) whereToLook(r reports.Report, options TerminalOptions) {
	if options.Report == "" {
		return
	}
	t.printf("Page: %s\n", oneLine(filepath.Join(options.Report, options.Page), maxText))
	if len(r.Cells) == 0 {
		return
	}
	worst := slices.MaxFunc(r.Cells, func(a, b reports.Cell) int { return a.Outcome.Compare(b.Outcome) })
	t.printf("One cell: skewrig report show %s %s\n", reports.Quoted(oneLine(options.Report, maxText)), reports.Quoted(oneLine(worst.ID, maxText)))
}

// outcomeWidth is the length of the longest word of an outcome.
const outcomeWidth = len(reports.UnexpectedPass)

// outcome returns the word of an outcome padded to a width, in its color: green for what
// passed, red for what does not conform, yellow for what was not judged.
func (t *terminal) outcome(o reports.Outcome, width int) string {
	padded := fmt.Sprintf("%-*s", width, oneLine(o.Word(), maxText))
	if !t.color {
		return padded
	}
	var color int
	switch {
	case o.Nonconforming():
		color = 31
	case o == reports.Pass:
		color = 32
	case o.Expected():
		color = 36
	default:
		color = 33
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", color, padded)
}

// CellsTerminal writes all that a report knows of some of its cells: each check with
// what was expected and observed, where the evidence is, and how to see them again.
func CellsTerminal(w io.Writer, r reports.Report, cells []reports.Cell, options TerminalOptions) error {
	t := terminal{color: options.Color, width: options.Width, causes: options.Causes}
	for i, c := range cells {
		if i > 0 {
			t.printf("\n")
		}
		t.printf("%s  %s\n", t.outcome(c.Outcome, 0), Took(c.DurationSeconds))
		t.indented("", oneLine(c.ID, maxText), 2, t.width)
		if bug, is := reports.ReproductionOf(c, r); is {
			t.indented("", saidOf(bug, r), 2, t.width)
		}
		t.fields(allDetails(c, t.telling(c, r)), "    ", t.width)
		t.indented("  evidence", oneLine(filepath.Join(options.Report, filepath.FromSlash(c.WorstRun().Dir)), maxText), len("  evidence  "), t.width)
		t.indented("  page", oneLine(filepath.Join(options.Report, options.Page)+"#cell="+c.ID, maxText), len("  evidence  "), t.width)
		lead := "  again"
		for _, line := range lines(again(c, r.Reproduce)) {
			t.indented(lead, line, len("  evidence  "), t.width)
			lead = ""
		}
	}
	return t.writeTo(w, "cells to the terminal")
}
