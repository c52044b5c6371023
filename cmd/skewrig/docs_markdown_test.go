package main

import (
	"regexp"
	"strings"
)

// fence is a block of code in a page.
type fence struct {
	language string // the word after the backquotes
	file     string // what is said there after file=
	line     int    // of its first line of text, from 1
	text     string
}

// span is a piece of code within a line.
type span struct {
	line int
	text string
}

// markdown is what of a page can be checked.
type markdown struct {
	fences []fence
	spans  []span
	links  []span // the targets of links
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// parseMarkdown finds code and links in a page. Of Markdown it knows what our pages
// use: blocks between lines of three backquotes, and code in backquotes.
func parseMarkdown(text string) (page markdown) {
	var open *fence
	for i, line := range strings.Split(text, "\n") {
		mark, isMark := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isMark && open == nil:
			open = &fence{line: i + 2}
			words := strings.Fields(mark)
			for n, word := range words {
				if file, names := strings.CutPrefix(word, "file="); names {
					open.file = file
				} else if n == 0 {
					open.language = word
				}
			}
		case isMark:
			page.fences, open = append(page.fences, *open), nil
		case open != nil:
			open.text += line + "\n"
		default:
			for _, found := range codeSpan.FindAllStringSubmatch(line, -1) {
				page.spans = append(page.spans, span{i + 1, found[1]})
			}
			for _, found := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
				page.links = append(page.links, span{i + 1, found[1]})
			}
		}
	}
	return page
}
