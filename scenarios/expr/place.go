package expr

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Written is an expression where it stands in the file of a scenario.
type Written struct {
	cell  plan.Cell
	line  int    // where the step or the check begins
	field string // which has the expression
	what  string // of which step or check it is, for people
	Text  string
}

// Each calls look for each expression of a cell, in their order, with what it sees
// as it (empty if nothing) and the index of its step.
func Each(cell plan.Cell, look func(step int, e Written, it string)) {
	for i, step := range cell.Steps {
		if until := Until(cell, step); until.Text != "" {
			look(i, until, "")
		}
		for _, c := range step.Checks() {
			if c.Observe != "" {
				look(i, Observe(cell, c), "")
			}
			if c.Must != "" {
				look(i, Must(cell, c), c.Observe)
			}
		}
	}
}

// Until is the condition of a wait step; empty for other steps.
func Until(cell plan.Cell, step plan.Step) Written {
	wait, _ := step.Action.(action.Wait)
	return Written{cell, step.Line, "until", "wait until", wait.Until}
}

// Observe is what a check observes.
func Observe(cell plan.Cell, c action.Check) Written {
	return Written{cell, c.Line, "observe", "check " + c.ID, c.Observe}
}

// Must is the condition on what a check observes.
func Must(cell plan.Cell, c action.Check) Written {
	return Written{cell, c.Line, "must", "check " + c.ID, c.Must}
}

// Visit calls look with all parts of the expressions of a check.
func Visit(c action.Check, look func(ast.Expr)) {
	for _, text := range []string{c.Observe, c.Must} {
		if e, is := Parse(text); is {
			ast.PreOrderVisit(e, ast.NewExprVisitor(look))
		}
	}
}

// Reads reports whether a check names a variable.
func Reads(c action.Check, variable string) (found bool) {
	Visit(c, func(e ast.Expr) { found = found || e.Kind() == ast.IdentKind && e.AsIdent() == variable })
	return found
}

// Mistakes are those of the expression, each with its place. It may see as it what another one is.
func (w Written) Mistakes(it string) (all []error) {
	var err error
	switch w.field {
	case "until":
		_, err = CompileCondition(w.Text)
	case "must":
		_, err = CompileCondition(w.Text, TypeOf(it))
	default:
		_, _, err = Compile(w.Text)
	}
	found, is := errors.AsType[Mistakes](err)
	if !is && err != nil {
		found = Mistakes{{0, err.Error()}}
	}
	return w.problems(found)
}

// MissingFields are the fields in the expression that the objects of the newest release don't have, each with its
// place, but for those that Mistakes has.
func (w Written) MissingFields(it string) []error { return w.problems(missingFields(w.Text, it)) }

// problems are mistakes with their places.
func (w Written) problems(found Mistakes) (all []error) {
	for _, m := range found {
		all = append(all, w.Errorf(m.offset, "%s", m.message))
	}
	return all
}

// Errorf is a mistake in an expression, with its place: that of an offset in the
// expression, counted in characters.
func (w Written) Errorf(offset int, format string, args ...any) error {
	return strict.Problemf(w.Place(offset), "%s: %s", w.what, fmt.Sprintf(format, args...))
}

// Place is where a part of the expression stands. Where the file writes it otherwise, it is the place of the field.
func (w Written) Place(offset int) strict.Position {
	field := PlaceOf(w.cell, w.line, w.field)
	begin, found := indexOfField(w.cell.Text, w.line, w.field)
	if !found {
		return field
	}
	at, found := indexOfPart(w.cell.Text, begin+len(w.field)+1, w.Text, offset)
	if !found {
		return field
	}
	return positionOf(w.cell, at)
}

// PlaceOfRequirement is where the requirement of a check stands.
func PlaceOfRequirement(cell plan.Cell, c action.Check) strict.Position {
	return Written{cell: cell, line: c.Line, field: "requirement", Text: c.Requirement}.Place(0)
}

// PlaceOf is where a field of what begins in a line stands.
func PlaceOf(cell plan.Cell, line int, field string) strict.Position {
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
