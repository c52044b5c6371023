package expr

import (
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

// syntax parses expressions without putting in what macros stand for, so that an
// exists is a call of exists.
var syntax = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(cel.OptionalTypes(), cel.ClearMacros(), cel.ParserRecursionLimit(maxNested))
})

// parsed has the expressions that were parsed by their text: those of a scenario are in
// each of its cells, and several rules look at each.
var parsed sync.Map

// Parse returns an expression as it is written. One that is none, or that calls a function
// as none can be called, has been reported.
func Parse(text string) (ast.Expr, bool) {
	tree, is := parseTree(text)
	if !is {
		return nil, false
	}
	return tree.Expr(), true
}

func parseTree(text string) (*ast.AST, bool) {
	if tree, is := parsed.Load(text); is {
		return tree.(*ast.AST), true
	}
	env, err := syntax()
	if err != nil || text == "" || len(text) > maxText {
		return nil, false
	}
	found, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, false
	}
	tree := found.NativeRep()
	if !isCalledRight(tree.Expr()) {
		return nil, false
	}
	parsed.Store(text, tree)
	return tree, true
}

// macros are the calls whose first argument is a name for each item of their target.
var macros = []string{"all", "exists", "exists_one", "existsOne", "filter", "map", "sortBy"}

// Walk calls look for all parts of an expression, those within a part before it, each with what its names mean.
// The body of a macro has each of the meanings that bodies returns.
func Walk[S any](s S, e ast.Expr, bodies func(S, ast.CallExpr) []S, look func(S, ast.Expr)) {
	for _, part := range operandsOf(e) {
		Walk(s, part, bodies, look)
	}
	scopes := []S{s}
	if e.Kind() == ast.CallKind && slices.Contains(macros, e.AsCall().FunctionName()) {
		scopes = bodies(s, e.AsCall())
	}
	for _, in := range scopes {
		for _, arg := range argumentsOf(e) {
			Walk(in, arg, bodies, look)
		}
	}
	look(s, e)
}

// isCalledRight reports whether the functions in an expression that the rules look into
// have the arguments that these rules expect.
func isCalledRight(e ast.Expr) bool {
	right := true
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		call := e.AsCall()
		args := call.Args()
		named := len(args) > 0 && args[0].Kind() == ast.IdentKind
		switch call.FunctionName() {
		case "all", "exists", "exists_one", "existsOne", "filter", "map", "sortBy":
			right = right && call.IsMemberFunction() && named && (len(args) == 2 || len(args) == 3 && call.FunctionName() == "map")
		case "size":
			right = right && call.IsMemberFunction() == (len(args) == 0) && len(args) < 2
		case "first", "last", "distinct", "flatten", "reverse", "slice", "sort", "value", "orValue":
			right = right && call.IsMemberFunction()
		}
	}))
	return right
}

// Offset is where a part of an expression begins, in characters.
func Offset(text string, id int64) int {
	tree, is := parseTree(text)
	if !is {
		return 0
	}
	at, _ := tree.SourceInfo().GetOffsetRange(id)
	return int(at.Start)
}

// operandsOf are the expressions right in another one, but for the arguments of a call.
func operandsOf(e ast.Expr) (operands []ast.Expr) {
	switch e.Kind() {
	case ast.CallKind:
		if e.AsCall().IsMemberFunction() {
			operands = append(operands, e.AsCall().Target())
		}
	case ast.ListKind:
		operands = append(operands, e.AsList().Elements()...)
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			operands = append(operands, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
	case ast.SelectKind:
		operands = append(operands, e.AsSelect().Operand())
	}
	return operands
}

// argumentsOf are those of a call.
func argumentsOf(e ast.Expr) []ast.Expr {
	if e.Kind() == ast.CallKind {
		return e.AsCall().Args()
	}
	return nil
}
