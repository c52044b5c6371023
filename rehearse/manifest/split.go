package manifest

import (
	"bytes"
	"strings"
)

// chunk is the text of a file between two separators of YAML documents, without the comments before it.
type chunk struct {
	text []byte
	// line is the line of the file with which the text begins, from 1.
	line int
	// template is the file of a chart that the comments name. If unset, there is no such comment.
	template string
}

// bom is what some editors write before the first character.
var bom = []byte("\xef\xbb\xbf")

// split returns the documents of a text. Separators are those of kubectl: a line "---", which may end with
// a comment, and the line "..." of YAML, after which kubectl ignores the text.
func split(text []byte) (chunks []chunk) {
	begin, from, line := 0, 1, 1
	end := func(at int) {
		chunks = append(chunks, newChunk(text[begin:at], from))
	}
	for at := 0; at < len(text); line++ {
		next := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		if isSeparator(text[at:next]) {
			end(at)
			begin, from = next, line+1
		}
		at = next
	}
	end(len(text))
	return chunks
}

func isSeparator(line []byte) bool {
	rest, is := bytes.CutPrefix(line, []byte("---"))
	if !is {
		rest, is = bytes.CutPrefix(line, []byte("..."))
	}
	if !is {
		return false
	}
	trimmed := bytes.TrimSpace(rest)
	return len(trimmed) == 0 || len(trimmed) < len(rest) && trimmed[0] == '#' && rest[0] != '#'
}

const source = "# Source: "

// newChunk cuts off the comments and directives with which a text begins. No text is left of one without content.
func newChunk(text []byte, line int) chunk {
	c := chunk{line: line}
	for next := range bytes.Lines(text) {
		trimmed := bytes.TrimSpace(next)
		if name, is := bytes.CutPrefix(trimmed, []byte(source)); is {
			c.template = strings.TrimSpace(string(name))
		}
		if len(trimmed) > 0 && trimmed[0] != '#' && next[0] != '%' {
			break
		}
		text = text[len(next):]
		c.line++
	}
	c.text = text
	return c
}
