package strict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Problem is one thing that is wrong with a file, and where.
type Problem struct {
	Position
	// Message says what is wrong and, where it can be said, what would be
	// right.
	Message string `json:"message"`
	// Cause is the error that Message is the text of. If unset, it is of none.
	Cause error `json:"-"`
}

// Problemf returns a problem at a position.
func Problemf(at Position, format string, args ...any) error {
	return Problem{Position: at, Message: fmt.Sprintf(format, args...)}
}

// At returns an error as a problem at a place as Position.String writes it, or with that before it.
func At(place string, err error) error {
	p, is := ParsePosition(place)
	if !is {
		return fmt.Errorf("%s: %w", place, err)
	}
	return Problem{Position: p, Message: err.Error(), Cause: err}
}

// Unwrap returns the cause.
func (p Problem) Unwrap() error { return p.Cause }

// Error returns the problem as file:line:column: message.
func (p Problem) Error() string {
	return p.String() + ": " + p.Message
}

func (p Problem) compare(q Problem) int {
	return cmp.Or(
		cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line),
		cmp.Compare(p.Column, q.Column), cmp.Compare(p.Message, q.Message),
	)
}

// Errors is everything that is wrong with one or several files.
type Errors struct {
	// Problems are sorted by file, line and column. There is at least one.
	Problems []Problem `json:"problems"`
}

// Error returns a line for each problem.
func (e *Errors) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems.
func (e *Errors) Unwrap() []error {
	all := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		all[i] = p
	}
	return all
}

// maxProblems bounds the problems that are kept of one file, so that a large
// file with the same mistake on every line doesn't bury the terminal.
const maxProblems = 200

// Problems gathers the problems of a file, each once: the cells of a scenario
// have most of theirs in common.
type Problems struct {
	all  []Problem
	seen map[Problem]bool
}

func (c *Problems) add(p Problem) {
	if c.seen[p] {
		return
	}
	if c.seen == nil {
		c.seen = make(map[Problem]bool)
	}
	c.seen[p] = true
	c.all = append(c.all, p)
}

// Any reports whether there are any.
func (c *Problems) Any() bool { return len(c.all) > 0 }

// Sorted returns what was gathered in the order in which it stands in the file.
func (c *Problems) Sorted() []Problem {
	slices.SortFunc(c.all, Problem.compare)
	if more := len(c.all) - maxProblems; more > 0 {
		kept := c.all[:maxProblems:maxProblems]
		last := kept[maxProblems-1]
		last.Message = fmt.Sprintf("there are %d more problems from here on, not listed", more+1)
		kept[maxProblems-1] = last
		return kept
	}
	return c.all
}

// AsError returns the problems, each once, as Errors, or nil if there are none.
func AsError(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortFunc(problems, Problem.compare)
	return &Errors{Problems: slices.CompactFunc(problems, func(p, q Problem) bool { return p.compare(q) == 0 })}
}

// Join returns all problems in errors, sorted and each once, as Errors. Errors that are no problem of a file come after
// them. It returns nil if there are none.
func Join(errs ...error) error {
	var problems []Problem
	var others []error
	seen := make(map[string]bool)
	var add func(error)
	add = func(err error) {
		switch err := err.(type) { //nolint:errorlint // a wrapped problem has another text
		case nil:
		case Problem:
			problems = append(problems, err)
		case *Errors:
			problems = append(problems, err.Problems...)
		case interface{ Unwrap() []error }:
			for _, one := range err.Unwrap() {
				add(one)
			}
		default:
			if !seen[err.Error()] {
				seen[err.Error()] = true
				others = append(others, err)
			}
		}
	}
	for _, err := range errs {
		add(err)
	}
	if len(others) == 0 {
		return AsError(problems)
	}
	return errors.Join(append([]error{AsError(problems)}, others...)...)
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

// InQuotes is Quote for text that stands in quotes already, or needs none.
func InQuotes(text string) string { return strings.Trim(Quote(text), `"`) }
