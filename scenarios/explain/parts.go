package explain

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/scenarios/expr"
)

// maxShown is how many parts of an expression are shown.
const maxShown = 8

// parts gathers the values of the parts of an expression.
type parts struct {
	evaluated

	found []narrate.Line
}

// partsOf are what made an expression true or false: what is joined by && and ||, both sides of a comparison,
// what all and exists go through. Of an expression whose value is anything else there are none: it says more
// than true or false.
func partsOf(e evaluated) []narrate.Line {
	if _, is := e.value.(types.Bool); !is && !e.IsBool() {
		return nil
	}
	x := parts{evaluated: e}
	x.condition(x.Expr())
	return x.found
}

var (
	joining   = []string{operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot}
	comparing = []string{
		operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.In,
	}
)

// condition explains a value that is true or false.
func (x *parts) condition(e ast.Expr) {
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
func (x *parts) side(e ast.Expr) {
	if e.Kind() == ast.CallKind && slices.Contains(slices.Concat(joining, comparing), e.AsCall().FunctionName()) {
		x.condition(e)
		return
	}
	x.operand(e)
}

// operand explains a value, and its parts if it says little itself: the
// number of something, or whether all of it are so.
func (x *parts) operand(e ast.Expr) {
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
func (x *parts) add(e ast.Expr) {
	text, err := x.Text(e)
	value, is := x.values.Value(e.ID())
	listed := slices.ContainsFunc(x.found, func(l narrate.Line) bool { return l.What == text })
	if err != nil || !is || listed || len(x.found) == maxShown || e.ID() == x.Expr().ID() {
		return
	}
	x.found = append(x.found, narrate.Line{What: text, Text: expr.Show(value, maxValue)})
}
