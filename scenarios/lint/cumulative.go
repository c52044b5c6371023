package lint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/skewrig/skewrig/scenarios/expr"
)

// counting finds the conditions of a check that hold as soon as enough was seen since
// the cell began, however little came of it after a change of the rig.
type counting struct {
	// fresh reports whether what a variable has of a key can't be from before the change.
	fresh func(variable, key string) bool
	// scope has what names stand for: it, and the names that macros give to items.
	scope map[string]value
}

// value is an expression, and the names that it sees.
type value struct {
	ast.Expr
	sees counting
}

// with is for what sees a name as well.
func (c counting) with(name string, v value) counting {
	scope := make(map[string]value)
	maps.Copy(scope, c.scope)
	scope[name] = v
	return counting{c.fresh, scope}
}

// standsFor is what an expression stands for: itself, unless it is a name or an item of a
// list that is written out.
func (c counting) standsFor(e ast.Expr) value {
	switch e.Kind() {
	case ast.IdentKind:
		if v, is := c.scope[e.AsIdent()]; is {
			return v.sees.standsFor(v.Expr)
		}
	case ast.CallKind:
		if e.AsCall().FunctionName() != operators.Index {
			break
		}
		args := e.AsCall().Args()
		items, whole := c.items(args[0])
		if n, is := number64(args[1]); is && whole && n >= 0 && n < int64(len(items)) {
			return items[n].sees.standsFor(items[n].Expr)
		}
	}
	return value{e, c}
}

// number64 returns the number that an expression is, as it is written.
func number64(e ast.Expr) (n int64, is bool) {
	if e.Kind() == ast.LiteralKind {
		n, is = e.AsLiteral().Value().(int64)
	}
	return n, is
}

// items are what is known of the items of a list, and whether these are all of them, one
// by one.
func (c counting) items(list ast.Expr) (items []value, whole bool) {
	v := c.standsFor(list)
	return v.sees.itemsOf(v.Expr)
}

func (c counting) itemsOf(list ast.Expr) (items []value, whole bool) {
	if list.Kind() == ast.ListKind {
		for _, e := range list.AsList().Elements() {
			items = append(items, value{e, c})
		}
		return items, true
	}
	if list.Kind() != ast.CallKind {
		return nil, false
	}
	call := list.AsCall()
	switch call.FunctionName() {
	case "map":
		body := call.Args()[len(call.Args())-1]
		scopes, whole := c.each(call)
		for _, in := range scopes {
			items = append(items, value{body, in})
		}
		return items, whole && len(call.Args()) == 2
	case "filter", "distinct", "sort":
		items, _ = c.items(call.Target())
	case operators.Add:
		for _, e := range call.Args() {
			some, _ := c.items(e)
			items = append(items, some...)
		}
	}
	return items, false
}

// each is for the body of a macro: once for each item that is known, or once if none is.
func (c counting) each(macro ast.CallExpr) (scopes []counting, whole bool) {
	name := macro.Args()[0]
	items, whole := c.items(macro.Target())
	if !whole && len(items) == 0 {
		items = []value{{name, counting{fresh: c.fresh}}} // it stands for nothing else
	}
	for _, item := range items {
		scopes = append(scopes, c.with(name.AsIdent(), item))
	}
	return scopes, whole
}

// bodies are what the body of a macro sees: once for each item that is known.
func (c counting) bodies(macro ast.CallExpr) []counting {
	all, _ := c.each(macro)
	return all
}

// may reports whether something may be so of what an expression stands for.
func (c counting) may(e ast.Expr, so func(counting, ast.Expr) bool) bool {
	v := c.standsFor(e)
	return so(v.sees, v.Expr)
}

// be is bounded for a value that has to be as it is given, item by item if it is a list.
func (c counting) be(e ast.Expr, given any, want bool) bool {
	switch given := given.(type) {
	case bool:
		return c.bounded(e, given == want)
	case int, int64, float64:
		return fmt.Sprint(given) == "0" && c.may(e, func(c counting, e ast.Expr) bool {
			of, is := expr.Sized(e)
			return is && c.empty(of, want)
		})
	case []any:
		if len(given) == 0 {
			return c.empty(e, want)
		}
		items, whole := c.items(e)
		whole = whole && len(items) == len(given)
		for i, item := range items {
			if whole && item.sees.be(item.Expr, given[i], want) ||
				!whole && slices.ContainsFunc(given, func(given any) bool { return item.sees.be(item.Expr, given, want) }) {
				return true
			}
		}
	}
	return false
}

// empty is bounded for a list that has to be empty: of what is left of others, of which
// enough was seen.
func (c counting) empty(list ast.Expr, want bool) bool {
	return c.may(list, func(c counting, e ast.Expr) bool {
		if e.Kind() != ast.CallKind {
			return false
		}
		call := e.AsCall()
		switch call.FunctionName() {
		case "filter":
			return c.body(call, !want) || c.empty(call.Target(), want)
		case "map", "distinct", "sort":
			return c.empty(call.Target(), want)
		}
		return false
	})
}

// body is bounded for the condition of a macro.
func (c counting) body(macro ast.CallExpr, want bool) bool {
	scopes, _ := c.each(macro)
	return slices.ContainsFunc(scopes, func(c counting) bool { return c.bounded(macro.Args()[1], want) })
}

// bounded reports whether a condition needs no more than that enough was seen, if it
// is to be true, or false if want is false.
func (c counting) bounded(e ast.Expr, want bool) bool {
	return c.may(e, func(c counting, e ast.Expr) bool { return c.isBounded(e, want) })
}

func (c counting) isBounded(e ast.Expr, want bool) bool {
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
	case "exists", "all":
		one := want == (call.FunctionName() == "exists") // that one item is enough
		return one && c.list(call.Target()) && !dated(args[1]) || c.body(call, want)
	}
	return false
}

// number reports whether a value is a number that only grows.
func (c counting) number(e ast.Expr) bool { return c.may(e, counting.isNumber) }

func (c counting) isNumber(e ast.Expr) bool {
	switch e.Kind() {
	case ast.SelectKind:
		return slices.Contains([]string{"starts", "restarts"}, e.AsSelect().FieldName()) && c.of(e.AsSelect().Operand(), "containers")
	case ast.CallKind:
		if of, is := expr.Sized(e); is {
			return c.list(of)
		}
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.Conditional:
			return slices.ContainsFunc(call.Args()[1:], c.number)
		case operators.Add:
			return slices.ContainsFunc(call.Args(), c.number)
		}
	}
	return false
}

// list reports whether a value is a list to which things are only added.
func (c counting) list(e ast.Expr) bool { return c.may(e, counting.isList) }

func (c counting) isList(e ast.Expr) bool {
	switch e.Kind() {
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
			return c.list(call.Target())
		}
		variable, is := expr.VariableOf(indexed(e))
		return is && variable.OnlyGrows() && c.of(e, variable.Name)
	}
	return false
}

// of reports whether a value is what a variable has of a key that is not fresh.
func (c counting) of(e ast.Expr, variable string) bool {
	if !indexes(e, variable) {
		return false
	}
	key, known := c.text(e.AsCall().Args()[1])
	return !known || !c.fresh(variable, key)
}

// text is what a key is, if that is known.
func (c counting) text(key ast.Expr) (text string, known bool) {
	v := c.standsFor(key)
	if v.Kind() != ast.CallKind || v.AsCall().FunctionName() != operators.Add {
		return expr.TextOf(v.Expr)
	}
	left, is := v.sees.text(v.AsCall().Args()[0])
	right, too := v.sees.text(v.AsCall().Args()[1])
	return left + right, is && too
}

// indexes reports whether a value is what a variable has of a key.
func indexes(e ast.Expr, variable string) bool { return indexed(e) == variable }

// indexed returns the variable of which an expression reads one key, as in pods["web"]. It is empty for other expressions.
func indexed(e ast.Expr) string {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Index {
		return ""
	}
	in := e.AsCall().Args()[0]
	if in.Kind() != ast.IdentKind {
		return ""
	}
	return in.AsIdent()
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
