package explain

import (
	"fmt"
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/skewrig/skewrig/scenarios/expr"
)

// fieldPath is the field that an expression reads: see narrate.Compared. The last name begins with a
// star if the value is a list of what was chosen by a name. It is empty if the expression
// is anything else.
func fieldPath(s expr.Source, e ast.Expr) []string {
	e = s.Macro(e)
	switch e.Kind() {
	case ast.IdentKind:
		return []string{e.AsIdent()}
	case ast.SelectKind:
		return after(fieldPath(s, e.AsSelect().Operand()), e.AsSelect().FieldName())
	case ast.CallKind:
		return pathOfCall(s, e.AsCall())
	default:
		return nil
	}
}

func pathOfCall(s expr.Source, call ast.CallExpr) []string {
	args := call.Args()
	switch call.FunctionName() {
	case operators.Index:
		if args[1].Kind() != ast.LiteralKind {
			return nil
		}
		switch key := args[1].AsLiteral().Value().(type) {
		case string:
			return after(fieldPath(s, args[0]), key)
		case int64:
			return after(fieldPath(s, args[0]), "["+strconv.FormatInt(key, 10)+"]")
		}
	case "filter", "distinct":
		if of := fieldPath(s, call.Target()); len(of) > 1 && of[0] == "history" {
			return of
		}
	case "map":
		return chosen(s, call)
	}
	return nil
}

// chosen is the path of list.filter(c, c.name == "app").map(c, c.ready).
func chosen(s expr.Source, call ast.CallExpr) []string {
	if of, field := fieldPath(s, call.Target()), fieldPath(s, call.Args()[len(call.Args())-1]); len(of) == 2 && of[0] == "history" && len(field) > 1 {
		return append(of, field[1:]...) // of each state of an object
	}
	filter := s.Macro(call.Target())
	if len(call.Args()) != 2 || filter.Kind() != ast.CallKind || filter.AsCall().FunctionName() != "filter" {
		return nil
	}
	is := s.Macro(filter.AsCall().Args()[1])
	if is.Kind() != ast.CallKind || is.AsCall().FunctionName() != operators.Equals {
		return nil
	}
	name, value := fieldPath(s, is.AsCall().Args()[0]), is.AsCall().Args()[1]
	field := fieldPath(s, call.Args()[1])
	if len(name) != 2 || len(field) < 2 || value.Kind() != ast.LiteralKind {
		return nil
	}
	list := after(fieldPath(s, filter.AsCall().Target()), fmt.Sprintf("[%s=%v]", name[1], value.AsLiteral().Value()))
	if len(list) == 0 {
		return nil
	}
	field[len(field)-1] = "*" + field[len(field)-1]
	return append(list, field[1:]...)
}

// after is a path with another name behind it, if it is one.
func after(path []string, name string) []string {
	if len(path) == 0 {
		return nil
	}
	return append(path, name)
}
