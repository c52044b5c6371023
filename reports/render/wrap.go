package render

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// wrapped returns the lines of a printable text, none of which is wider than so many
// columns. It breaks at spaces; a word that is wider, such as the id of a cell, after a
// slash where it can, and anywhere where it can't. If the width is not positive, the
// text is one line.
func wrapped(s string, width int) []string {
	if width <= 0 || runewidth.StringWidth(s) <= width {
		return []string{s}
	}
	var all []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch joined := line + " " + word; {
		case line == "":
			line = word
		case runewidth.StringWidth(joined) <= width:
			line = joined
		default:
			all, line = append(all, line), word
		}
		for runewidth.StringWidth(line) > width {
			head := headOf(line, width)
			all, line = append(all, head), line[len(head):]
		}
	}
	if line == "" && len(all) > 0 {
		return all
	}
	return append(all, line) // of blanks alone, it is empty
}

// headOf is as much of a word as fits, up to its last slash if that is not near its
// beginning. It is never empty.
func headOf(word string, width int) string {
	head := runewidth.Truncate(word, width, "")
	if head == "" {
		_, size := utf8.DecodeRuneInString(word)
		return word[:size]
	}
	if slash := strings.LastIndex(head, "/"); slash > len(head)/3 {
		return head[:slash+1]
	}
	return head
}

// indented writes a text below an indent, in lines of at most so many columns. What
// leads stands before the first line, and counts as a part of the indent.
func (g *gathered) indented(leads, s string, indent, width int) {
	room := 0
	if width > 0 {
		room = max(width-indent, narrowest)
	}
	for i, line := range wrapped(s, room) {
		if i > 0 {
			leads = ""
		}
		g.printf("%s%s\n", padded(leads, indent), line)
	}
}

// narrowest is how wide a column of text is at least, however little room there is.
const narrowest = 24

// padded fills a text up with spaces to a width.
func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-runewidth.StringWidth(s)))
}

// Table returns rows below a header, in columns as wide as what is in them and two
// spaces apart. If they are wider than so many columns, the last one is wrapped; where
// that leaves it too little room, it stands below the others. A width that is not
// positive is that of no terminal: nothing is wrapped.
func Table(header []string, rows [][]string, width int) string {
	var g gathered
	last := len(header) - 1
	widths := make([]int, last)
	for _, row := range append([][]string{header}, rows...) {
		for i := range last {
			widths[i] = max(widths[i], runewidth.StringWidth(row[i])+2)
		}
	}
	before := 0
	for _, w := range widths {
		before += w
	}
	below := width > 0 && width-before < narrowest && slices.ContainsFunc(rows, func(row []string) bool {
		return before+runewidth.StringWidth(row[last]) > width
	})
	for _, row := range append([][]string{header}, rows...) {
		var lead strings.Builder
		for i, w := range widths {
			lead.WriteString(padded(row[i], w))
		}
		leads := lead.String()
		switch {
		case !below:
			g.indented(leads, row[last], before, width)
		case row[last] == "":
			g.indented("", strings.TrimRight(leads, " "), 0, width)
		default:
			g.indented("", strings.TrimRight(leads, " "), 0, width)
			g.indented("", row[last], 4, width)
		}
	}
	return trimmed(g.String())
}

// Fit returns a text whose lines are at most so many columns wide. What does not fit
// stands below the beginning of its line, a little further in. A line in color stays as
// it is, and so does all of it if the width is not positive.
func Fit(text string, width int) string {
	if width <= 0 {
		return text
	}
	var g gathered
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if runewidth.StringWidth(line) <= width || strings.Contains(line, "\x1b") {
			g.printf("%s\n", line)
			continue
		}
		words := strings.TrimLeft(line, " ")
		further := len(line) - len(words) + 4
		first, rest := headLine(words, width-further+4)
		g.printf("%s%s\n", line[:len(line)-len(words)], first)
		if rest != "" {
			g.indented("", rest, further, width)
		}
	}
	return g.String()
}

// headLine is the first line of a wrapped text, and the text that follows.
func headLine(s string, width int) (first, rest string) {
	words := strings.Join(strings.Fields(s), " ")
	first = wrapped(words, max(width, narrowest))[0]
	return first, strings.TrimPrefix(words[len(first):], " ")
}

// trimmed removes spaces at the ends of lines.
func trimmed(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
