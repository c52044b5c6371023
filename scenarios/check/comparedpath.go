package check

import (
	"fmt"
	"strconv"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// asWritten is an expression with its macros as they were written. It is nil if it is none.
func asWritten(text string) *cel.Ast {
	env, err := language()
	if err == nil {
		env, err = env.Extend(cel.EnableMacroCallTracking())
	}
	if err != nil {
		return nil
	}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil
	}
	return checked
}

// written is a part of an expression as its author wrote it: a macro, not what it
// stands for.
func (x *explained) written(e ast.Expr) ast.Expr {
	if call, is := x.ast.SourceInfo().GetMacroCall(e.ID()); is {
		return call
	}
	return e
}

// path is the field that an expression reads: see Compared. The last name begins with a
// star if the value is a list of what was chosen by a name. It is empty if the expression
// is anything else.
func (x *explained) path(e ast.Expr) []string {
	e = x.written(e)
	switch e.Kind() {
	case ast.IdentKind:
		return []string{e.AsIdent()}
	case ast.SelectKind:
		return after(x.path(e.AsSelect().Operand()), e.AsSelect().FieldName())
	case ast.CallKind:
		return x.pathOfCall(e.AsCall())
	default:
		return nil
	}
}

func (x *explained) pathOfCall(call ast.CallExpr) []string {
	args := call.Args()
	switch call.FunctionName() {
	case operators.Index:
		if args[1].Kind() != ast.LiteralKind {
			return nil
		}
		switch key := args[1].AsLiteral().Value().(type) {
		case string:
			return after(x.path(args[0]), key)
		case int64:
			return after(x.path(args[0]), "["+strconv.FormatInt(key, 10)+"]")
		}
	case "filter", "distinct":
		if of := x.path(call.Target()); len(of) > 1 && of[0] == "history" {
			return of
		}
	case "map":
		return x.chosen(call)
	}
	return nil
}

// chosen is the path of list.filter(c, c.name == "app").map(c, c.ready).
func (x *explained) chosen(call ast.CallExpr) []string {
	if of, field := x.path(call.Target()), x.path(call.Args()[len(call.Args())-1]); len(of) == 2 && of[0] == "history" && len(field) > 1 {
		return append(of, field[1:]...) // of each state of an object
	}
	filter := x.written(call.Target())
	if len(call.Args()) != 2 || filter.Kind() != ast.CallKind || filter.AsCall().FunctionName() != "filter" {
		return nil
	}
	is := x.written(filter.AsCall().Args()[1])
	if is.Kind() != ast.CallKind || is.AsCall().FunctionName() != operators.Equals {
		return nil
	}
	name, value := x.path(is.AsCall().Args()[0]), is.AsCall().Args()[1]
	field := x.path(call.Args()[1])
	if len(name) != 2 || len(field) < 2 || value.Kind() != ast.LiteralKind {
		return nil
	}
	list := after(x.path(filter.AsCall().Target()), fmt.Sprintf("[%s=%v]", name[1], value.AsLiteral().Value()))
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
