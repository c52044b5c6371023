package render

import (
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// Verdict returns what the exit code of a report means, as a sentence without
// its full stop: "All outcomes are as expected".
func Verdict(r reports.Report) string { return capitalized(verdict(r)) }

// Counts returns the numbers of cells by outcome, the most severe first:
// "63 cells: 20 expected-fail, 43 pass; 13 reference cells: 13 as expected, not
// counted".
func Counts(s reports.Summary) string { return counts(s) }

// Took returns a number of seconds for people: "850ms", "12.3s", "4m10s", and
// "-" for what never started.
func Took(seconds float64) string { return duration(seconds) }

// Visible returns a text of bounded length in which what does not show as itself
// is escaped, such as control characters and the marks that reverse the direction
// of writing. Its lines stay lines.
func Visible(s string) string { return strings.Join(lines(s), "\n") }

// VisibleWhole is Visible without the bound, for what is of no use in parts, such
// as a command.
func VisibleWhole(s string) string { return strings.Join(printableLines(s), "\n") }
