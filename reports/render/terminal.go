package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// TerminalOptions say how Terminal writes.
type TerminalOptions struct {
	// Color writes outcomes in colors, by the escape sequences of ECMA-48. It
	// is for the caller to know whether the reader understands them.
	Color bool
	// Report is where the whole report is, a file or a directory. If unset,
	// nothing is said of it.
	Report string
}

// Terminal writes the report as a table of one line per cell, followed by
// everything that is known of what is not as expected, and by the counts. No
// text of the report can control the terminal.
func Terminal(w io.Writer, r reports.Report, options TerminalOptions) error {
	t := terminal{color: options.Color}
	t.table(r.Cells)
	t.attention(r)
	t.printf("%s\n%s\n", Counts(r.Summary), Verdict(r))
	if r.Partial != "" {
		t.printf("Partial: %s\n", oneLine(r.Partial, maxText))
	}
	if options.Report != "" {
		t.printf("Report: %s\n", oneLine(options.Report, maxText))
	}
	return t.writeTo(w, "a report to the terminal")
}

type terminal struct {
	gathered
	color bool
}

// outcomeWidth is the length of the longest outcome.
const outcomeWidth = len(reports.UnexpectedPass)

func (t *terminal) table(cells []reports.Cell) {
	if len(cells) == 0 {
		return
	}
	widest := len("CELL")
	for _, c := range cells {
		widest = max(widest, len(oneLine(c.ID, maxText)))
	}
	t.printf("%-*s  %8s  %-*s  %s\n", outcomeWidth, "OUTCOME", "TOOK", widest, "CELL", "REASON")
	for _, c := range cells {
		line := fmt.Sprintf("%s  %8s  %-*s  %s", t.outcome(c.Outcome, outcomeWidth),
			Took(c.DurationSeconds), widest, oneLine(c.ID, maxText), oneLine(inRuns(c), maxReason))
		t.printf("%s\n", strings.TrimRight(line, " "))
	}
	t.printf("\n")
}

// inRuns is the reason of a cell. Of one that has none, it is how many times it
// ran, if that is not once.
func inRuns(c reports.Cell) string {
	if c.Reason == "" && len(c.Runs) > 0 {
		return reports.Counted(len(c.Runs), "run")
	}
	return c.Reason
}

func (t *terminal) attention(r reports.Report) {
	for _, c := range r.Cells {
		if c.Outcome.Expected() {
			continue
		}
		t.printf("%s  %s\n", t.outcome(c.Outcome, 0), oneLine(c.ID, maxText))
		for line := range strings.Lines(details(c)) {
			t.printf("  %s", line)
		}
		t.printf("\n")
	}
	for _, problem := range r.Problems {
		t.printf("problem  %s\n\n", oneLine(problem, maxText))
	}
}

// outcome returns an outcome padded to a width, in its color: green for what
// passed, red for what does not conform, yellow for what was not judged.
func (t *terminal) outcome(o reports.Outcome, width int) string {
	padded := fmt.Sprintf("%-*s", width, oneLine(string(o), maxText))
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
