package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// Sentence is one sentence of a text, one heading, one row of a table or one block
// of code.
type Sentence struct {
	// Line is the line it begins on, from 1.
	Line int
	// Text is the sentence on one line, with the text's own markup.
	Text string
	// Digest names the sentence: the first ten hexadecimal digits of the SHA-256 of
	// its words. Case, markup and punctuation don't count.
	Digest string
}

var (
	fence   = regexp.MustCompile("^\\s*(```|~~~)")
	heading = regexp.MustCompile(`^#{1,6}\s`)
	marker  = regexp.MustCompile(`^\s*([-*+•]|\d+[.)])\s+(\[[ xX]\]\s+)?`)
	end     = regexp.MustCompile("[.?!][\\])\"'”’*_`]*\\s+\\S")
	short   = regexp.MustCompile(`(?i)(^|[\s("'])(e\.g|i\.e|a\.k\.a|etc|vs|cf|incl|resp)\.$`)
	link    = regexp.MustCompile(`!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])`)
	tag     = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)
	quotes  = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "–", "-", "—", "-", "\u00a0", " ", "`", " ", "**", " ", "|", " ")
)

// Sentences returns the sentences of a text in Markdown, or in the plain text of a
// rendered page, in its order. HTML comments, which hold a template's advice to
// authors, have none.
func Sentences(text string) []Sentence {
	var s splitter
	for i, line := range strings.Split(withoutComments(text), "\n") {
		s.line(i+1, strings.TrimRight(line, " \t\r"))
	}
	s.flush()
	return s.all
}

// splitter collects the lines of a block, and cuts the block where it ends.
type splitter struct {
	all    []Sentence
	block  []part
	fenced bool
}

// part is a line of a block.
type part struct {
	line int
	text string
}

func (s *splitter) line(number int, line string) {
	if fence.MatchString(line) {
		if s.fenced {
			s.code()
		} else {
			s.flush()
		}
		s.fenced = !s.fenced
		return
	}
	alone := heading.MatchString(line) || strings.HasPrefix(line, "|")
	if !s.fenced && (alone || marker.MatchString(line) || strings.TrimSpace(line) == "" || s.leavesItem(line)) {
		s.flush()
	}
	if strings.TrimSpace(line) != "" {
		s.block = append(s.block, part{number, line})
	}
	if !s.fenced && alone {
		s.flush()
	}
}

// leavesItem reports whether the block is an item of a list, and a line is not
// indented as its continuation is.
func (s *splitter) leavesItem(line string) bool {
	return len(s.block) > 0 && marker.MatchString(s.block[0].text) && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t")
}

// code takes the block as one sentence.
func (s *splitter) code() {
	var lines []string
	for _, p := range s.block {
		lines = append(lines, strings.TrimSpace(p.text))
	}
	if len(lines) > 0 {
		s.add(s.block[0].line, strings.Join(lines, " "))
	}
	s.block = nil
}

// flush cuts the block into sentences.
func (s *splitter) flush() {
	var text strings.Builder
	var starts []int // where in the text each line of the block begins
	for i, p := range s.block {
		line := strings.TrimSpace(p.text)
		if i == 0 {
			line = marker.ReplaceAllString(p.text, "")
		} else {
			text.WriteByte(' ')
		}
		starts = append(starts, text.Len())
		text.WriteString(strings.TrimSpace(line))
	}
	whole := text.String()
	lineAt := func(offset int) int {
		line := s.block[0].line
		for i, start := range starts {
			if start <= offset {
				line = s.block[i].line
			}
		}
		return line
	}
	from := 0
	for _, cut := range cuts(whole) {
		s.add(lineAt(from), whole[from:cut])
		from = cut
	}
	if from < len(whole) {
		s.add(lineAt(from), whole[from:])
	}
	s.block = nil
}

func (s *splitter) add(line int, text string) {
	if plain := words(text); plain != "" {
		s.all = append(s.all, Sentence{Line: line, Text: strings.TrimSpace(text), Digest: digest(plain)})
	}
}

// cuts returns where the sentences of a block after the first begin.
func cuts(text string) (all []int) {
	for from := 0; ; {
		at := end.FindStringIndex(text[from:])
		if at == nil {
			return all
		}
		stop := from + at[0] + 1
		next := stop + strings.IndexAny(text[stop:], " \t")
		for text[next] == ' ' || text[next] == '\t' {
			next++
		}
		if !short.MatchString(text[:stop]) {
			all = append(all, next)
		}
		from = stop
	}
}

// withoutComments blanks HTML comments out. Lines keep their numbers.
func withoutComments(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<!--")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		comment, after, _ := strings.Cut(rest, "-->")
		b.WriteString(strings.Repeat("\n", strings.Count(comment, "\n")))
		text = after
	}
}

// words returns what a digest is of: the words of a sentence in lower case, without
// markup and punctuation.
func words(text string) string {
	text = quotes.Replace(tag.ReplaceAllString(link.ReplaceAllString(text, "$1"), " "))
	var words []string
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		word = strings.Trim(word, `.,;:!?()[]{}"'*_#•`)
		if strings.ContainsFunc(word, letter) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// letter reports whether a rune carries meaning: a letter, a digit, or a comparison.
func letter(r rune) bool {
	return r > 127 || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("<>=", r)
}

func digest(words string) string {
	sum := sha256.Sum256([]byte(words))
	return hex.EncodeToString(sum[:5])
}
