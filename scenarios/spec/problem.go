package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Problem is one thing that is wrong with a file, and where.
type Problem struct {
	// File is the path of the file as it was given: that of a scenario, or of
	// a manifest that a scenario names.
	File string `json:"file"`
	// Line and Column count from 1, columns in characters.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Message says what is wrong and, where it can be said, what would be
	// right.
	Message string `json:"message"`
}

// String returns the problem as file:line:column: message.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

func (p Problem) compare(q Problem) int {
	return cmp.Or(
		cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line),
		cmp.Compare(p.Column, q.Column), cmp.Compare(p.Message, q.Message),
	)
}

// Errors is everything that is wrong with one or several files. Decode and
// Load return no other type of error.
type Errors struct {
	// Problems are sorted by file, line and column. There is at least one.
	Problems []Problem `json:"problems"`
}

// Error returns a line for each problem.
func (e *Errors) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// maxProblems bounds the problems that are kept of one file, so that a large
// file with the same mistake on every line doesn't bury the terminal.
const maxProblems = 200

// collector gathers the problems of a file, each once: the cells of a scenario
// have most of theirs in common.
type collector struct {
	problems []Problem
	seen     map[Problem]bool
}

func (c *collector) add(p Problem) {
	if c.seen[p] {
		return
	}
	if c.seen == nil {
		c.seen = make(map[Problem]bool)
	}
	c.seen[p] = true
	c.problems = append(c.problems, p)
}

// sorted returns what was gathered in the order in which it stands in the file.
func (c *collector) sorted() []Problem {
	slices.SortFunc(c.problems, Problem.compare)
	if more := len(c.problems) - maxProblems; more > 0 {
		kept := c.problems[:maxProblems:maxProblems]
		last := kept[maxProblems-1]
		last.Message = fmt.Sprintf("there are %d more problems from here on, not listed", more+1)
		kept[maxProblems-1] = last
		return kept
	}
	return c.problems
}

// asError returns the problems as an error, or nil if there are none.
func asError(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortFunc(problems, Problem.compare)
	return &Errors{Problems: problems}
}

// maxQuoted bounds how much of a file's text a message repeats, in bytes.
const maxQuoted = 80

// Quote renders text from a file for a message: bounded, and with nothing in it
// that a terminal would obey.
func Quote(text string) string {
	if len(text) <= maxQuoted {
		return strconv.Quote(text)
	}
	cut := maxQuoted
	for !utf8.RuneStart(text[cut]) && cut > 0 {
		cut--
	}
	return strconv.Quote(text[:cut]) + "..."
}

// inQuotes is quote for text that stands in quotes already, or needs none.
func inQuotes(text string) string { return strings.Trim(Quote(text), `"`) }
