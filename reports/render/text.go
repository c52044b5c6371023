package render

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/skewrig/skewrig/reports"
)

// gathered is a text that is written when it is whole.
type gathered struct{ strings.Builder }

func (g *gathered) printf(format string, args ...any) { fmt.Fprintf(g, format, args...) }

// writeTo writes what was gathered, which the error calls by its name. Texts from elsewhere are escaped where
// they are put in, as the format asks; what was forgotten there can't control a terminal either.
func (g *gathered) writeTo(w io.Writer, what string) error {
	if _, err := io.WriteString(w, harmless(g.String())); err != nil {
		return fmt.Errorf("writing %s: %w", what, err)
	}
	return nil
}

// maxText is how much of one text of a report is shown to people, in runes. The
// whole of it is in the JSON.
const maxText = 2000

// maxReason is how much of a reason fits into a line of a table, in runes.
const maxReason = 100

// Printable returns s with everything escaped that does not show as itself, such
// as control characters, which can rewrite a terminal's screen, and the marks
// that reverse the direction of writing.
func Printable(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}

// colors are the escape sequences that terminal.outcome writes.
var colors = regexp.MustCompile(`\x1b\[\d*m`)

// harmless returns s with everything escaped that could control a terminal, but for ends of lines and colors.
func harmless(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		line, end := strings.CutSuffix(line, "\n")
		after := 0
		for _, color := range colors.FindAllStringIndex(line, -1) {
			b.WriteString(Printable(line[after:color[0]]) + line[color[0]:color[1]])
			after = color[1]
		}
		b.WriteString(Printable(line[after:]))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// noisy is a number with digits that come of how floating point is calculated.
var noisy = regexp.MustCompile(`\b\d+\.\d{12,}\b`)

// rounded returns s with such numbers to nine digits behind the point, without the zeros at
// their end: 2.431, and not 2.4309999999999974.
func rounded(s string) string {
	return noisy.ReplaceAllStringFunc(s, func(number string) string {
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return number // it is greater than any
		}
		return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(value, 'f', 9, 64), "0"), ".")
	})
}

// shortened returns at most limit runes of s, and says so if there were more.
func shortened(s string, limit int) string {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	cut := 0
	for range limit {
		_, size := utf8.DecodeRuneInString(s[cut:])
		cut += size
	}
	return fmt.Sprintf("%s… (%d more)", s[:cut], n-limit)
}

// lines returns the lines of a text of bounded length, each printable.
func lines(s string) []string { return printableLines(shortened(s, maxText)) }

// Visible returns a text of bounded length in which what does not show as itself
// is escaped, such as control characters and the marks that reverse the direction
// of writing. Its lines stay lines.
func Visible(s string) string { return strings.Join(lines(s), "\n") }

// VisibleWhole is Visible without the bound, for what is of no use in parts, such
// as a command.
func VisibleWhole(s string) string { return strings.Join(printableLines(s), "\n") }

func printableLines(s string) []string {
	all := strings.Split(strings.TrimRight(rounded(s), "\n"), "\n")
	for i, line := range all {
		all[i] = Printable(strings.TrimSuffix(line, "\r"))
	}
	return all
}

// oneLine returns a text of bounded length in one printable line.
func oneLine(s string, limit int) string { return Printable(shortened(rounded(s), limit)) }

// telling is how checks of a report are shown.
type telling struct {
	report reports.Report
	// causes are why some do not hold, by their ids.
	causes map[string]string
	// called is what an outcome is called.
	called func(reports.Outcome) string
}

// inWords is for people.
func inWords(r reports.Report) telling { return telling{report: r, called: reports.Outcome.Word} }

// identifier is what programs call an outcome.
func identifier(o reports.Outcome) string { return string(o) }

// details returns what is known of the checks of a cell that are not as expected, or why
// the cell has none. Checks that saw nothing for the same reason share it.
func details(c reports.Cell, how telling) fields {
	var b fields
	writeRepeats(&b, c)
	checks := reports.Only(c.Checks, func(check reports.Check) bool { return !check.Outcome.Expected() })
	if len(checks) == 0 || slices.ContainsFunc(checks, endedOtherwise(c.Reason)) {
		writeField(&b, "reason", c.Reason)
	}
	for _, alike := range reports.Grouped(checks, sawNothing) {
		if reason := sawNothing(alike[0]); reason != "" && len(alike) > 1 {
			b.head("%d checks: %s", len(alike), how.called(alike[0].Outcome))
			writeField(&b, "reason", reason)
			writeField(&b, "checks", reports.Few(idsOf(alike), maxUndecided))
			continue
		}
		writeChecks(&b, alike, c, how)
	}
	return b
}

// endedOtherwise returns whether a check saw nothing and does not say the reason for which
// its cell ended.
func endedOtherwise(reason string) func(reports.Check) bool {
	return func(c reports.Check) bool {
		return sawNothing(c) != "" && !strings.Contains(sawNothing(c), reason)
	}
}

// maxUndecided is how many of the checks that saw nothing are named.
const maxUndecided = 5

// sawNothing is why a check was not decided and observed nothing. It is empty for others.
func sawNothing(c reports.Check) string {
	if c.Outcome != reports.Unknown || c.Observed != "" {
		return ""
	}
	return c.Reason
}

func idsOf(checks []reports.Check) (ids []string) {
	return reports.Each(checks, func(c reports.Check) string { return c.ID })
}

// allDetails returns what is known of all checks of a cell, or why it has none.
func allDetails(c reports.Cell, how telling) fields {
	var b fields
	writeRepeats(&b, c)
	if writeChecks(&b, c.Checks, c, how); len(c.Checks) == 0 {
		writeField(&b, "reason", c.Reason)
	}
	return b
}

// fields are values with their names, below lines that have none.
type fields []field

type field struct{ name, value string }

// head adds a line without a name.
func (f *fields) head(format string, args ...any) {
	*f = append(*f, field{value: fmt.Sprintf(format, args...)})
}

// maxName is the length of the longest name of a field.
const maxName = len("requirement")

// String has a line for each line of a value, indented below those without a name.
func (f fields) String() string {
	var g gathered
	g.fields(f, "", 0)
	return g.String()
}

// fields writes fields behind an indent, in lines of at most so many columns.
func (g *gathered) fields(all fields, indent string, width int) {
	for _, f := range all {
		if f.name == "" {
			g.indented(indent, f.value, len(indent), width)
			continue
		}
		lead := fmt.Sprintf("%s  %-*s  ", indent, maxName, f.name)
		for _, line := range lines(f.value) {
			g.indented(lead, line, len(lead), width)
			lead = strings.Repeat(" ", len(lead))
		}
	}
}

func writeRepeats(b *fields, c reports.Cell) {
	for _, fact := range repeats(c) {
		b.head("%s", fact)
	}
	if lines := distinctions(c.Compared); lines != "" {
		b.head("differs from %s", oneLine(c.Compared.With, maxText))
		writeField(b, "differs", lines)
	}
}

func writeChecks(b *fields, checks []reports.Check, c reports.Cell, how telling) {
	for _, check := range checks {
		b.head("check %s: %s", oneLine(check.ID, maxText), how.called(check.Outcome))
		writeField(b, "cause", how.causes[check.ID])
		writeField(b, "requirement", check.Requirement)
		writeField(b, "expected", check.Expected)
		writeField(b, "observed", check.Observed)
		writeField(b, "reason", check.Reason)
		writeField(b, "compare", comparison(check, c, how.report))
		writeField(b, "readings", resting(check, c, how.report))
	}
}

// resting says of an ambiguous check on what the other reading rests, a line for each check.
func resting(check reports.Check, c reports.Cell, r reports.Report) string {
	var said []string
	for _, other := range reports.ReadingsOf(r.Requirements).Rests(c, check) {
		said = append(said, fmt.Sprintf("The other reading rests on the check %s: expected %s, observed %s", other.ID, other.Expected, other.Observed))
	}
	return strings.Join(said, "\n")
}

// comparison says of a check that is not recorded which recorded deviation it is like, in
// which other cells it passes, and which check of its cell is most like it and passes. It is
// empty if there is nothing to compare it with.
func comparison(check reports.Check, c reports.Cell, r reports.Report) string {
	if check.Outcome != reports.Fail {
		return ""
	}
	said := reports.Each(r.RelatedDeviations(c, check), func(k reports.RelatedDeviation) string { return k.Advice(c.ID) })
	if holds := reports.PassesElsewhere(c.ID, r.PassesIn(c, check)); holds != "" {
		said = append(said, holds)
	}
	all := strings.Join(said, ". ")
	if twin := reports.ClosestCheck(c, check); twin.ID != "" {
		all += fmt.Sprintf("\nIn this cell, the check %s passes: expected %s, observed %s", twin.ID, twin.Expected, twin.Observed)
	}
	return strings.TrimPrefix(all, "\n")
}

// distinctions are how a cell differs from the one that it is compared with, in a line each.
func distinctions(c reports.Compared) string {
	var lines []string
	for _, d := range c.Distinctions {
		line := fmt.Sprintf("step %d, %.1f s: %s", d.Step, d.At, d)
		switch {
		case d.Because != "":
			line += " (" + d.Because + ")"
		case d.Chance:
			line += " (may be chance)"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// repeats returns what is known of a cell because it ran several times, in a line
// each.
func repeats(c reports.Cell) []string {
	var facts []string
	if c.Rate != (reports.Rate{}) {
		facts = append(facts, "failed in "+c.Rate.String())
	}
	if c.Differs != (reports.Difference{}) {
		facts = append(facts, oneLine(c.Differs.String(), maxText))
	}
	return facts
}

func writeField(b *fields, name, value string) {
	if value != "" {
		*b = append(*b, field{name, value})
	}
}

// Verdict returns what the exit code of a report means, as a sentence without
// its full stop: "Everything conforms".
func Verdict(r reports.Report) string { return reports.Capitalize(verdict(r)) }

func verdict(r reports.Report) string {
	switch reports.ExitCode(r) {
	case reports.ExitExpected:
		switch {
		case r.EmptyShard():
			return "the shard has no cells"
		case slices.ContainsFunc(r.Cells, func(c reports.Cell) bool { return c.Outcome.Recorded() }):
			return "nothing new: every deviation is recorded"
		}
		return "everything conforms"
	case reports.ExitNonconforming:
		return "something does not conform"
	}
	switch {
	case r.Partial != "":
		return "the report is partial"
	case nothingJudged(r):
		return "nothing was judged"
	}
	return "not everything was judged"
}

// nothingJudged reports whether no cell was judged, where some should be.
func nothingJudged(r reports.Report) bool {
	return !r.EmptyShard() && !slices.ContainsFunc(r.Cells, func(c reports.Cell) bool { return c.Outcome.Judged() })
}

// Reproduction is a known bug with the cells that show it, and the line that says so.
type Reproduction struct {
	reports.Reproduction

	Said  string
	Cells []reports.Cell
}

// Reproductions are the known bugs that cells of a report reproduced.
func Reproductions(r reports.Report) (all []Reproduction) {
	cells := reports.Only(r.Cells, func(c reports.Cell) bool { return reproduces(c, r) })
	bugOf := func(c reports.Cell) reports.Reproduction { bug, _ := reports.ReproductionOf(c, r); return bug }
	for _, of := range reports.Grouped(cells, bugOf) {
		bug := bugOf(of[0])
		all = append(all, Reproduction{bug, saidOf(bug, r), of})
	}
	return all
}

func reproduces(c reports.Cell, r reports.Report) bool {
	_, is := reports.ReproductionOf(c, r)
	return is
}

// saidOf says in a line that a known bug was seen: "REPRODUCED kubernetes#141961: 12
// replicasets, at most 2 expected (known, so exit 0)".
func saidOf(bug reports.Reproduction, r reports.Report) string {
	known := "known"
	if reports.ExitCode(r) == reports.ExitExpected {
		known = "known, so exit 0"
	}
	return fmt.Sprintf("REPRODUCED %s: %s (%s)", oneLine(bug.Bug, maxText), oneLine(bug.Seen, maxText), known)
}

func severestFirst() []reports.Outcome {
	outcomes := reports.Outcomes()
	slices.Reverse(outcomes)
	return outcomes
}

// Took returns a number of seconds for people: "850ms", "12.3s", "4m10s", and
// "-" for what never started.
func Took(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d == 0:
		return "-"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}
