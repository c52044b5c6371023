// Package expr is the language of checks: CEL over a timeline. It compiles expressions, evaluates them within a
// budget, says what they refer to, and where they stand in the file of a scenario.
package expr

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/reports"
)

// language is the CEL environment of expressions.
var language = sync.OnceValues(func() (*cel.Env, error) {
	shapes, err := newShapes()
	if err != nil {
		return nil, err
	}
	return cel.NewEnv(append(shapes.variables(), cel.OptionalTypes(), cel.CustomTypeProvider(shapes),
		cel.CustomTypeAdapter(inKeyOrder), ext.Strings(), ext.Lists(), cel.ParserRecursionLimit(maxNested))...)
})

const (
	// maxText is how long an expression may be, in bytes, and maxNested how deep: the
	// compiler takes a second for that.
	maxText, maxNested = 8 << 10, 64
	// maxParts is how many parts an expression may have when its macros are written out.
	maxParts = 20_000
)

// tooLong says why an expression is not compiled, if it is not.
func tooLong(text string) error {
	if len(text) > maxText {
		return fmt.Errorf("the expression is %d bytes long, the limit is %d: make several checks of it", len(text), maxText)
	}
	if e, is := Parse(text); is && writtenOut(e) > maxParts {
		return fmt.Errorf("the expression has more than %d parts when its macros are written out: chain fewer optMap and optFlatMap", maxParts)
	}
	return nil
}

// writtenOut is how many parts an expression has without macros. An optMap has its target
// twice, with types for which the compiler takes several times as long.
func writtenOut(e ast.Expr) int {
	sizes := make(map[int64]int)
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		size := 1
		for _, part := range append(operandsOf(e), argumentsOf(e)...) {
			size = min(size+sizes[part.ID()], maxParts+1)
		}
		if e.Kind() == ast.CallKind && slices.Contains([]string{"optMap", "optFlatMap"}, e.AsCall().FunctionName()) {
			size = min(8*size, maxParts+1)
		}
		sizes[e.ID()] = size
	}))
	return sizes[e.ID()]
}

// Program is an expression that was compiled, or why it could not be.
type Program struct {
	cel.Program

	of   *cel.Type // its value
	size int       // what it costs to evaluate it, but for loops and calls
	err  error
}

// programs are those of all expressions, by their text and what they see as it: cells of
// one scenario share them.
var programs sync.Map

// Compile turns the text of an expression into a program. The type is that of
// its value. If an expression sees what was observed, it is of that type.
func Compile(text string, it ...*cel.Type) (*Program, *cel.Type, error) {
	key := fmt.Sprint(text, it)
	found, is := programs.Load(key)
	if !is {
		found, _ = programs.LoadOrStore(key, compiledAnew(text, it))
	}
	p := found.(*Program)
	return p, p.of, p.err
}

func compiledAnew(text string, it []*cel.Type) *Program {
	if err := tooLong(text); err != nil {
		return &Program{err: err}
	}
	env, err := language()
	if err == nil && len(it) > 0 {
		env, err = env.Extend(cel.Variable("it", it[0]))
	}
	if err != nil {
		return &Program{err: err}
	}
	checked, issues := compileIn(text)(env)
	if issues.Err() != nil {
		return &Program{err: mistakesOf(env, text, compileIn(text))}
	}
	p, err := metered(env, checked)
	if err != nil {
		return &Program{err: err}
	}
	return p
}

// Mistakes are what is wrong with an expression.
type Mistakes []Mistake

// Mistake is one of them: where it is, and what is wrong.
type Mistake struct {
	offset  int // in characters
	message string
}

// Error implements error.
func (m Mistakes) Error() string {
	all := make([]string, len(m))
	for i, one := range m {
		all[i] = one.message
	}
	return strings.Join(all, "; ")
}

// compiling compiles an expression in an environment.
type compiling func(*cel.Env) (*cel.Ast, *cel.Issues)

func compileIn(text string) compiling {
	return func(env *cel.Env) (*cel.Ast, *cel.Issues) { return env.Compile(text) }
}

// mistakesOf are those of an expression, with what may have been meant.
func mistakesOf(env *cel.Env, text string, compile compiling) (all Mistakes) {
	_, issues := compile(env)
	lines := strings.SplitAfter(text, "\n")
	known := namesOf(env, compile)
	for _, e := range issues.Errors() {
		at := max(0, e.Location.Column())
		for _, line := range lines[:min(len(lines), max(0, e.Location.Line()-1))] {
			at += utf8.RuneCountInString(line)
		}
		message := strings.TrimSuffix(e.Message, " (in container '')")
		if syntax, is := strings.CutPrefix(message, "Syntax error: "); is {
			return Mistakes{{at, syntaxInWords(syntax)}} // others come of it
		}
		if found := unknownName.FindStringSubmatch(message); found != nil {
			message += known[found[1]].guess(found[1])
		}
		all = append(all, Mistake{at, message})
	}
	return all
}

// misplacedPart and missingPart find in a message of the parser what it did not expect,
// or what it lacks.
var (
	misplacedPart = regexp.MustCompile(`^(?:mismatched input|extraneous input|no viable alternative at input|token recognition error at:) '(.*?)'(?: expecting .*)?$`)
	missingPart   = regexp.MustCompile(`^missing ('.*?') at '(.*)'$`)
)

// instead are the operators of CEL by those of other languages.
var instead = map[string]string{"=": "==", "and": "&&", "or": "||", "not": "!", "is": "=="}

// syntaxInWords says a mistake without the names of the parser's tokens.
func syntaxInWords(message string) string {
	const end = "<EOF>"
	if found := missingPart.FindStringSubmatch(message); found != nil {
		return strings.ReplaceAll(fmt.Sprintf("syntax: %s is missing before '%s'", found[1], found[2]), "before '"+end+"'", "at the end")
	}
	found := misplacedPart.FindStringSubmatch(message)
	switch {
	case found == nil:
		return "syntax: " + message
	case found[1] == end:
		return "syntax: it ends too early"
	}
	said := fmt.Sprintf("syntax: '%s' can't stand here", found[1])
	if operator := instead[strings.TrimSpace(found[1])]; operator != "" {
		said += ": write " + operator
	}
	return said
}

// unknownName is a message of the compiler about a name that it doesn't know.
var unknownName = regexp.MustCompile(`^(?:undeclared reference to|undefined field) '([^']+)'`)

// choice are the names that an expression may have in a place.
type choice struct {
	names []string
	// api is set for the fields of API objects, which docs/fields.md does not list.
	api bool
}

// namesOf are the names that there are where an expression has one that is not known, by
// that name: the fields of the object, or else variables and functions.
func namesOf(env *cel.Env, compile compiling) map[string]choice {
	known := make(map[string]choice)
	provider, _ := env.CELTypeProvider().(*shapes)
	env, err := env.Extend(cel.CustomTypeProvider(asked{provider, known}))
	if err != nil {
		return nil
	}
	_, issues := compile(env)
	for _, e := range issues.Errors() {
		if found := unknownName.FindStringSubmatch(e.Message); found != nil && known[found[1]].names == nil {
			functions := env.Functions()
			delete(functions, found[1]) // a variable is wanted
			near := spelling.Closest(found[1], slices.Collect(maps.Keys(functions)))
			known[found[1]] = choice{names: append(Variables(), near...)}
		}
	}
	return known
}

// asked notes which fields there are when it is asked for one that is not.
type asked struct {
	*shapes

	known map[string]choice
}

// FindStructFieldType implements types.Provider.
func (a asked) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	found, is := a.shapes.FindStructFieldType(name, field)
	if !is {
		a.known[field] = choice{slices.Sorted(maps.Keys(a.fields[name])), !isListed(name)}
	}
	return found, is
}

// isListed reports whether docs/fields.md has a type.
func isListed(name string) bool {
	env, err := language()
	if err != nil {
		return false
	}
	types, is := env.CELTypeProvider().(*shapes)
	return is && types.fields[name] != nil
}

// CompileCondition compiles an expression that is true or false.
func CompileCondition(text string, it ...*cel.Type) (*Program, error) {
	program, t, err := Compile(text, it...)
	if err == nil && !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		err = fmt.Errorf("it is neither true nor false, it is %s", KindOf(t))
	}
	return program, err
}

// TypeOf is the type of the value of an expression.
func TypeOf(text string) *cel.Type {
	if _, t, err := Compile(text); err == nil {
		return t
	}
	return cel.DynType // so that what sees it is looked at too
}

// guess ends an error with the name that may have been meant, or else with all that there
// are: fields and variables, which are few enough.
func (c choice) guess(name string) string {
	if len(spelling.Closest(name, c.names)) > 0 || len(c.names) < 2 {
		return Guess(name, c.names)
	}
	all := ": there are " + strings.Join(slices.Sorted(slices.Values(c.names)), ", ")
	if c.api {
		return all
	}
	return all + " (skewrig docs fields)"
}

// maxKnown is how many names an error lists.
const maxKnown = 8

// Guess ends an error with the name that may have been meant, or else with those there
// are.
func Guess(name string, known []string) string {
	switch near := spelling.Closest(name, known); {
	case len(near) > 0:
		return ": did you mean " + near[0] + "?"
	case len(known) == 0:
		return ": there is none"
	case len(known) == 1:
		return ": there is only " + known[0]
	default:
		return ": there are " + reports.Few(known, maxKnown)
	}
}

// JSON renders a value for people and for comparing: compact JSON with keys
// in order.
func JSON(v ref.Val) string {
	native, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return fmt.Sprint(v.Value())
	}
	text, err := json.Marshal(native.(*structpb.Value).AsInterface())
	if err != nil {
		return fmt.Sprint(v.Value())
	}
	return string(text)
}

// Bool is a value that has to be true or false.
func Bool(v ref.Val) (bool, error) {
	b, ok := v.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the expression is neither true nor false, it is %s", JSON(v))
	}
	return bool(b), nil
}

// KindOf is what people call a value of a type.
func KindOf(t *cel.Type) string {
	switch t.Kind() {
	case cel.IntKind, cel.UintKind, cel.DoubleKind:
		return "a number"
	case cel.StringKind:
		return "a text"
	case cel.BoolKind:
		return "true or false"
	case cel.ListKind:
		return "a list"
	case cel.MapKind:
		return "a map"
	default:
		return "a " + t.String()
	}
}
