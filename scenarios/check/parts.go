package check

import (
	"context"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
)

// Part is a part of an expression, with its value when the check was decided.
type Part struct{ Expression, Value string }

const (
	// maxShown is how many parts of an expression are shown, and maxValue how much of
	// the value of each, in bytes.
	maxShown, maxValue = 8, 400
)

// PartsOf returns the parts of the checks of a result that do not hold, by the check's
// id. A result has the expressions that it was judged by, whatever became of the
// scenario.
func PartsOf(ctx context.Context, result reports.Cell, events []record.Event) map[string][]Part {
	all, b := make(map[string][]Part), newBudget(maxExplained)
	for _, c := range result.Checks {
		if c.Outcome != reports.Fail && !c.Outcome.Recorded() {
			continue
		}
		if described, is := described(c); is {
			all[c.ID] = parts(ctx, b, described, events)
		}
	}
	return all
}

// described is a check that wants true or false, as it is described.
func described(result reports.Check) (action.Check, bool) {
	e, is := result.Expectation()
	if !is || !e.Exact || e.Mode == "" || !e.WantsBool() || !reports.IsBool(result.Observed) {
		return action.Check{}, false
	}
	return action.Check{ID: result.ID, Observe: e.Observe, Is: e.Wanted == "true", Mode: e.Mode}, true
}

// parts are what made a check's expression true or false: what is joined by
// && and ||, both sides of a comparison, what all and exists go through. Of a
// check whose value is anything else there are none: its value says more than true
// or false. They are for people, and no part of the verdict.
func parts(ctx context.Context, b *budget, c action.Check, events []record.Event) []Part {
	compiled, err := compileCheck(c)
	in := timeline.Of(events).Windows[c.ID]
	if err != nil || in == nil || in.Closed == nil {
		return nil
	}
	return explain(ctx, b, c.Observe, vars(decidedAt(ctx, b, compiled, events, in)))
}

// explain evaluates an expression again, also what could be skipped since the rest
// decides, and remembers the values.
func explain(ctx context.Context, b *budget, text string, vars map[string]any) []Part {
	checked := asWritten(text)
	if checked == nil {
		return nil
	}
	value, details := b.explain(ctx, checked, vars)
	if _, is := value.(types.Bool); details == nil || !is && !checked.OutputType().IsExactType(cel.BoolType) {
		return nil
	}
	x := explained{ast: checked.NativeRep(), values: details.State()}
	x.condition(x.ast.Expr())
	return x.parts
}

// explain evaluates all of an expression. There are no details if it can't be planned.
func (b *budget) explain(ctx context.Context, checked *cel.Ast, vars map[string]any) (ref.Val, *cel.EvalDetails) {
	env, err := language()
	if err != nil {
		return nil, nil
	}
	p, err := metered(env, checked, cel.EvalOptions(cel.OptExhaustiveEval))
	if err != nil {
		return nil, nil
	}
	m := &meter{ctx: ctx, limit: min(maxOnce, b.limit-b.used)}
	value, details, _ := p.eval(m, vars)
	b.used += m.used
	return value, details
}

// explained gathers the parts of an expression.
type explained struct {
	ast    *ast.AST
	values interpreter.EvalState
	parts  []Part
}

var (
	joining   = []string{operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot}
	comparing = []string{
		operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.In,
	}
)

// condition explains a value that is true or false.
func (x *explained) condition(e ast.Expr) {
	switch {
	case e.Kind() == ast.CallKind && slices.Contains(joining, e.AsCall().FunctionName()):
		for _, side := range e.AsCall().Args() {
			x.condition(side)
		}
	case e.Kind() == ast.CallKind && slices.Contains(comparing, e.AsCall().FunctionName()):
		for _, side := range e.AsCall().Args() {
			x.side(side)
		}
	default:
		x.operand(e)
	}
}

// side explains one side of a comparison, which may be a condition: a == 1 == true.
func (x *explained) side(e ast.Expr) {
	if e.Kind() == ast.CallKind && slices.Contains(slices.Concat(joining, comparing), e.AsCall().FunctionName()) {
		x.condition(e)
		return
	}
	x.operand(e)
}

// operand explains a value, and its parts if it says little itself: the
// number of something, or whether all of it are so.
func (x *explained) operand(e ast.Expr) {
	if e.Kind() == ast.LiteralKind {
		return
	}
	x.add(e)
	switch {
	case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "size" && e.AsCall().IsMemberFunction():
		x.add(e.AsCall().Target())
	case e.Kind() == ast.ComprehensionKind:
		if _, is := x.values.Value(e.ID()); is {
			x.add(e.AsComprehension().IterRange())
		}
	}
}

// add adds a part once. The whole is none of its parts.
func (x *explained) add(e ast.Expr) {
	text, err := cel.ExprToString(e, x.ast.SourceInfo())
	value, is := x.values.Value(e.ID())
	listed := slices.ContainsFunc(x.parts, func(p Part) bool { return p.Expression == text })
	if err != nil || !is || listed || len(x.parts) == maxShown || e.ID() == x.ast.Expr().ID() {
		return
	}
	shown := asJSON(value)
	if failure, is := value.(*types.Err); is {
		shown = failure.Error()
	}
	x.parts = append(x.parts, Part{Expression: text, Value: shorten(withoutRig(shown), maxValue)})
}
