package check

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// written is an expression where it stands in the file of a scenario.
type written struct {
	cell  plan.Cell
	line  int    // where the step or the check begins
	field string // which has the expression
	what  string // of which step or check it is, for people
	text  string
}

// expressions calls look for each expression of a cell, in their order, with what it sees
// as it (empty if nothing) and the index of its step.
func expressions(cell plan.Cell, look func(step int, e written, it string)) {
	for i, step := range cell.Steps {
		if until := untilOf(step); until != "" {
			look(i, written{cell, step.Line, "until", "wait until", until}, "")
		}
		for _, c := range step.Checks() {
			what := "check " + c.ID
			if c.Observe != "" {
				look(i, written{cell, c.Line, "observe", what, c.Observe}, "")
			}
			if c.Must != "" {
				look(i, written{cell, c.Line, "must", what, c.Must}, c.Observe)
			}
		}
	}
}

// untilOf is the condition of a wait step; empty for other steps.
func untilOf(step plan.Step) string {
	wait, _ := step.Action.(action.Wait)
	return wait.Until
}

// errorf is a mistake in an expression, with its place: that of an offset in the
// expression, counted in characters.
func (w written) errorf(offset int, format string, args ...any) error {
	return strict.Problemf(w.place(offset), "%s: %s", w.what, fmt.Sprintf(format, args...))
}

// place is where a part of the expression stands. Where the file writes it otherwise, it is the place of the field.
func (w written) place(offset int) strict.Position {
	field := place(w.cell, w.line, w.field)
	begin, found := indexOfField(w.cell.Text, w.line, w.field)
	if !found {
		return field
	}
	at, found := indexOfPart(w.cell.Text, begin+len(w.field)+1, w.text, offset)
	if !found {
		return field
	}
	return positionOf(w.cell, at)
}

// PlaceOfRequirement is where the requirement of a check stands.
func PlaceOfRequirement(cell plan.Cell, c action.Check) strict.Position {
	return written{cell: cell, line: c.Line, field: "requirement", text: c.Requirement}.place(0)
}

// place is where a field of what begins in a line stands.
func place(cell plan.Cell, line int, field string) strict.Position {
	at, found := indexOfField(cell.Text, line, field)
	if !found {
		return strict.Position{File: cell.File, Line: line, Column: 1}
	}
	return positionOf(cell, at)
}

// positionOf is that of an index in the text of a cell's file.
func positionOf(cell plan.Cell, at int) strict.Position {
	before := cell.Text[:at]
	column := 1 + utf8.RuneCountInString(before[1+strings.LastIndexByte(before, '\n'):])
	return strict.Position{File: cell.File, Line: 1 + strings.Count(before, "\n"), Column: column}
}

// indexOfField is where the first field of that name from a line on begins in a text.
func indexOfField(text string, line int, field string) (at int, found bool) {
	for n := 1; n < line && at < len(text); n++ {
		at += 1 + strings.IndexByte(text[at:]+"\n", '\n')
	}
	if at >= len(text) {
		return 0, false
	}
	below := strings.Index(text[at:], field+":")
	return at + below, below >= 0
}

// indexOfPart is where a part of an expression stands in a text in which the value of a
// field that begins there is the expression. YAML writes lines and quotes in several
// ways: only the other characters are compared.
func indexOfPart(text string, at int, expression string, offset int) (int, bool) {
	at = skipSpace(text, at)
	switch {
	case strings.HasPrefix(text[at:], "'"), strings.HasPrefix(text[at:], `"`):
		at++
	case strings.HasPrefix(text[at:], "|"), strings.HasPrefix(text[at:], ">"):
		at += strings.IndexByte(text[at:]+"\n", '\n')
	}
	for i, r := range []rune(expression) {
		if unicode.IsSpace(r) {
			continue
		}
		if at = skipSpace(text, min(at, len(text))); at == len(text) {
			return 0, false
		}
		has, size := utf8.DecodeRuneInString(text[at:])
		if doubled := string(has) + string(r); (doubled == `\"` || doubled == `\\` || doubled == `''`) && strings.HasPrefix(text[at+size:], string(r)) {
			at, has = at+size, r
		}
		if has != r {
			return 0, false
		}
		if i >= offset {
			return at, true
		}
		at += size
	}
	return at, offset >= 0
}

func skipSpace(text string, at int) int {
	return len(text) - len(strings.TrimLeftFunc(text[at:], unicode.IsSpace))
}
