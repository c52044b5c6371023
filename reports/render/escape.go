package render

import (
	"io"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// MarkdownText escapes a text of bounded length so that it shows as itself in Markdown, also
// in a table.
func MarkdownText(s string) string { return text(s) }

// MarkdownBlock is a block of code in a language, as it is.
func MarkdownBlock(language, content string) string { return fenced(language, content, "") }

// MarkdownTable writes a table of what is Markdown already.
func MarkdownTable(w io.Writer, rows [][]string, header ...string) error {
	var m markdown
	m.table(rows, header...)
	return m.writeTo(w, "a table")
}

// Line is a text of bounded length in one printable line.
func Line(s string) string { return oneLine(s, maxText) }

// Brief is a text of at most so many characters in one printable line, and how many more there are.
func Brief(s string, limit int) string { return oneLine(s, limit) }

// Title is a text as the beginning of a sentence. A name at its beginning stays as it is.
func Title(s string) string { return strings.TrimSuffix(reports.Sentence(s), ".") }
