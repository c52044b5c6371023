package main

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// session is a command and what it printed.
type session struct {
	Command string
	Lines   []line
}

// line is a line with the colors that the command gave it (ECMA-48), and when it was
// printed, from the start of the command.
type line struct {
	At   time.Duration
	Text string
}

// Sizes of the drawing in its own units, which are pixels unless it is scaled.
const (
	fontSize   = 14
	charWidth  = 8.5 // of the common monospaced fonts, 0.6 of their size
	lineHeight = 20
	margin     = 16
)

// maxPause is how long the drawing waits for a line: a reader is not to wait for a
// build.
const maxPause = 1500 * time.Millisecond

// style has colors that are readable on its own background, whatever is around it. A
// reader who wants no motion, and a program that can't show any, get all lines at once.
const style = `
    .screen { fill: #0d1117 }
    text { fill: #e6edf3; font: %dpx ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; white-space: pre }
    .prompt { fill: #8b949e } .bold { font-weight: 700 } .dim { fill: #8b949e }
    .c31 { fill: #ff7b72 } .c32 { fill: #7ee787 } .c33 { fill: #e3b341 } .c34 { fill: #79c0ff } .c35 { fill: #d2a8ff } .c36 { fill: #56d4dd }
    @keyframes appear { from { visibility: hidden } }
    text { animation: appear 1ms steps(1) backwards }
    @media (prefers-reduced-motion: reduce) { text { animation: none } }
`

// svg draws a session.
func (s session) svg() string {
	rows := s.rows()
	width, height := int(columns*charWidth)+2*margin, len(rows)*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="title">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "  <title id=\"title\">What %s prints</title>\n", html.EscapeString(plain(s.Command)))
	fmt.Fprintf(&b, "  <style>"+style+"  </style>\n", fontSize)
	fmt.Fprintf(&b, "  <rect class=\"screen\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", width, height)
	for i, r := range rows {
		fmt.Fprintf(&b, "  <text x=\"%d\" y=\"%d\" xml:space=\"preserve\" style=\"animation-delay:%dms\">%s</text>\n",
			margin, margin+(i+1)*lineHeight-6, r.At.Milliseconds(), r.Text)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// rows are the rows of the screen, as SVG: the command, then its lines, folded as a
// terminal folds them, with no pause longer than maxPause.
func (s session) rows() []line {
	rows := []line{{Text: `<tspan class="prompt">$ </tspan>` + html.EscapeString(plain(s.Command))}}
	shown, before := time.Duration(0), time.Duration(0)
	for _, l := range s.Lines {
		shown += min(l.At-before, maxPause)
		before = l.At
		for _, text := range folded(spans(l.Text)) {
			rows = append(rows, line{At: shown, Text: text})
		}
	}
	return rows
}

// span is a piece of text in one style.
type span struct{ class, text string }

// escape is a control sequence of ECMA-48. If it ends in m, its parameters say how text
// looks.
var escape = regexp.MustCompile(`\x1b\[([0-9;?]*)([@-~])`)

// classes are the styles that a sequence can set. Others change nothing.
var classes = map[string]string{
	"1": "bold", "2": "dim", "31": "c31", "32": "c32", "33": "c33", "34": "c34", "35": "c35", "36": "c36",
}

// spans divides a line where its style changes.
func spans(text string) (all []span) {
	class := ""
	add := func(text string) {
		if text = plain(text); text != "" {
			all = append(all, span{class, text})
		}
	}
	for {
		at := escape.FindStringSubmatchIndex(text)
		if at == nil {
			add(text)
			return all
		}
		add(text[:at[0]])
		if text[at[4]:at[5]] == "m" {
			class = styled(class, text[at[2]:at[3]])
		}
		text = text[at[1]:]
	}
}

// styled is the class of text after the parameters of a sequence.
func styled(class, parameters string) string {
	for parameter := range strings.SplitSeq(parameters, ";") {
		switch set := classes[parameter]; {
		case parameter == "" || parameter == "0":
			class = ""
		case set != "":
			class = strings.TrimSpace(class + " " + set)
		}
	}
	return class
}

// folded are the rows that a line takes, as SVG. An empty line takes one.
func folded(line []span) []string {
	var rows []string
	var row strings.Builder
	left := columns
	for _, s := range line {
		for rest := []rune(s.text); len(rest) > 0; {
			if left == 0 {
				rows, left = append(rows, row.String()), columns
				row.Reset()
			}
			now := rest[:min(left, len(rest))]
			rest, left = rest[len(now):], left-len(now)
			drawn := html.EscapeString(string(now))
			if s.class != "" {
				drawn = fmt.Sprintf(`<tspan class="%s">%s</tspan>`, s.class, drawn)
			}
			row.WriteString(drawn)
		}
	}
	return append(rows, row.String())
}

// plain is a text without what an SVG may not have.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
}
