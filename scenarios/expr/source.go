package expr

import (
	"context"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/ref"
)

// Source is an expression that was compiled with its macros as they were written.
type Source struct {
	*ast.AST

	compiled *cel.Ast
}

// AsWritten compiles an expression with its macros as they are written, if it is one. What it
// sees as it is of a type; nil if it sees nothing.
func AsWritten(text string, it *cel.Type) (s Source, is bool) {
	env, err := language()
	if err == nil {
		env, err = env.Extend(cel.EnableMacroCallTracking())
	}
	if err == nil && it != nil {
		env, err = env.Extend(cel.Variable("it", it))
	}
	if err != nil {
		return s, false
	}
	compiled, issues := env.Compile(text)
	if issues.Err() != nil {
		return s, false
	}
	return Source{compiled.NativeRep(), compiled}, true
}

// EvalAll evaluates all of an expression, also what could be skipped since the rest decides. There are no
// details if it can't be planned.
func (b *Budget) EvalAll(ctx context.Context, s Source, now map[string]any) (ref.Val, *cel.EvalDetails) {
	env, err := language()
	if err != nil {
		return nil, nil
	}
	p, err := metered(env, s.compiled, cel.EvalOptions(cel.OptExhaustiveEval))
	if err != nil {
		return nil, nil
	}
	m := &meter{ctx: ctx, limit: min(maxOnce, b.limit-b.used)}
	value, details, _ := p.eval(m, now)
	b.used += m.used
	return value, details
}

// Text is a part of an expression as its author wrote it.
func (s Source) Text(e ast.Expr) (string, error) { return cel.ExprToString(e, s.SourceInfo()) }

// IsBool reports whether the value of the expression is true or false.
func (s Source) IsBool() bool { return s.compiled.OutputType().IsExactType(cel.BoolType) }

// Macro is a part of an expression as its author wrote it: a macro, not what it stands for.
func (s Source) Macro(e ast.Expr) ast.Expr {
	if call, is := s.SourceInfo().GetMacroCall(e.ID()); is {
		return call
	}
	return e
}

// part is the first part of an expression that is so.
func (s Source) part(is func(ast.Expr) bool) (found ast.Expr, any bool) {
	ast.PreOrderVisit(s.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if !any && is(e) {
			found, any = e, true
		}
	}))
	return found, any
}

// begins is where a part of an expression begins: with the first name in it.
func (s Source) begins(e ast.Expr) int {
	for {
		switch {
		case e.Kind() == ast.SelectKind:
			e = e.AsSelect().Operand()
			continue
		case e.Kind() == ast.CallKind && e.AsCall().IsMemberFunction():
			e = e.AsCall().Target()
			continue
		case e.Kind() == ast.CallKind && slices.Contains([]string{operators.Index, operators.OptIndex, operators.OptSelect}, e.AsCall().FunctionName()):
			e = e.AsCall().Args()[0]
			continue
		}
		at, _ := s.SourceInfo().GetOffsetRange(e.ID())
		return int(at.Start)
	}
}
