package check

import (
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// syntax parses expressions without putting in what macros stand for, so that an
// exists is a call of exists.
var syntax = sync.OnceValues(func() (*cel.Env, error) { return cel.NewEnv(cel.ClearMacros()) })

// parsed has the expressions that were parsed by their text: those of a scenario are in
// each of its cells, and several rules look at each.
var parsed sync.Map

// parse returns an expression as it is written. One that is none has been reported.
func parse(text string) (ast.Expr, bool) {
	if e, is := parsed.Load(text); is {
		return e.(ast.Expr), true
	}
	env, err := syntax()
	if err != nil || text == "" {
		return nil, false
	}
	tree, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, false
	}
	e := tree.NativeRep().Expr()
	parsed.Store(text, e)
	return e, true
}

// counting finds the conditions of a check that hold as soon as enough was seen since
// the cell began, however little came of it after a change of the rig.
type counting struct {
	// fresh reports whether what a variable has of a key can't be from before the change.
	fresh func(variable, key string) bool
	// it is what the check observes, for its condition. If unset, nothing.
	it ast.Expr
}

// be is bounded for a value that has to be as it is given, item by item if it is a list.
func (c counting) be(e ast.Expr, given any, want bool) bool {
	if given, is := given.(bool); is {
		return c.bounded(e, given == want)
	}
	items, is := given.([]any)
	if !is || e.Kind() != ast.ListKind || e.AsList().Size() != len(items) {
		return false
	}
	for i, e := range e.AsList().Elements() {
		if c.be(e, items[i], want) {
			return true
		}
	}
	return false
}

// bounded reports whether a condition needs no more than that enough was seen, if it
// is to be true, or false if want is false.
func (c counting) bounded(e ast.Expr, want bool) bool {
	if e.Kind() == ast.IdentKind {
		return e.AsIdent() == "it" && c.it != nil && c.observed().bounded(c.it, want)
	}
	if e.Kind() != ast.CallKind {
		return false
	}
	call := e.AsCall()
	args := call.Args()
	either := func(e ast.Expr) bool { return c.bounded(e, want) }
	switch call.FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		return slices.ContainsFunc(args, either)
	case operators.Conditional:
		return slices.ContainsFunc(args[1:], either)
	case operators.LogicalNot:
		return c.bounded(args[0], !want)
	case operators.Greater, operators.GreaterEquals:
		return c.number(args[0]) && want || c.number(args[1]) && !want
	case operators.Less, operators.LessEquals:
		return c.number(args[1]) && want || c.number(args[0]) && !want
	case operators.NotEquals:
		return want && (c.number(args[0]) || c.number(args[1]))
	case operators.In:
		return want && c.list(args[1])
	case "exists":
		return want && call.IsMemberFunction() && c.list(call.Target()) && !dated(args[1])
	}
	return false
}

// observed is for what stands for it.
func (c counting) observed() counting { return counting{fresh: c.fresh} }

// number reports whether a value is a number that only grows.
func (c counting) number(e ast.Expr) bool {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent() == "it" && c.it != nil && c.observed().number(c.it)
	case ast.SelectKind:
		return slices.Contains([]string{"starts", "restarts"}, e.AsSelect().FieldName()) && c.of(e.AsSelect().Operand(), "containers")
	case ast.CallKind:
		call := e.AsCall()
		switch call.FunctionName() {
		case "size":
			return call.IsMemberFunction() && c.list(call.Target()) || len(call.Args()) == 1 && c.list(call.Args()[0])
		case operators.Conditional:
			return slices.ContainsFunc(call.Args()[1:], c.number)
		case operators.Add:
			return slices.ContainsFunc(call.Args(), c.number)
		}
	}
	return false
}

// list reports whether a value is a list to which things are only added.
func (c counting) list(e ast.Expr) bool {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent() == "it" && c.it != nil && c.observed().list(c.it)
	case ast.SelectKind:
		field, in := e.AsSelect().FieldName(), e.AsSelect().Operand()
		return field == "exits" && c.of(in, "containers") || field == "events" && c.of(in, "watches") || field == "views" && c.of(in, "polls") ||
			field == "changes" && c.of(in, "nodes") || field == "scaled" && c.of(in, "dependents")
	case ast.CallKind:
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.Add:
			return slices.ContainsFunc(call.Args(), c.list)
		case "filter":
			return c.list(call.Target()) && !dated(call.Args()[1])
		case "map", "distinct", "flatten", "sort":
			return call.IsMemberFunction() && c.list(call.Target())
		}
		return slices.ContainsFunc([]string{"connections", "events", "history", "calls"}, func(variable string) bool { return c.of(e, variable) })
	}
	return false
}

// of reports whether a value is what a variable has of a key that is not fresh.
func (c counting) of(e ast.Expr, variable string) bool {
	if !indexes(e, variable) {
		return false
	}
	key := e.AsCall().Args()[1]
	if key.Kind() != ast.LiteralKind {
		return true
	}
	text, _ := key.AsLiteral().Value().(string)
	return !c.fresh(variable, text)
}

// indexes reports whether a value is what a variable has of a key.
func indexes(e ast.Expr, variable string) bool {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Index {
		return false
	}
	in := e.AsCall().Args()[0]
	return in.Kind() == ast.IdentKind && in.AsIdent() == variable
}

// dated reports whether an expression asks when something was.
func dated(e ast.Expr) bool {
	found := false
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.IdentKind && e.AsIdent() == "since" ||
			e.Kind() == ast.SelectKind && slices.Contains([]string{"at", "opened", "closed"}, e.AsSelect().FieldName())
	}))
	return found
}
