package lint

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/skewrig/skewrig/scenarios/expr"
)

// lastOfAll refuses the last of what was seen since the cell began if the rig was changed
// in the meantime: nothing may have come since.
func (c judged) lastOfAll() string {
	changed := c.changed()
	observe, is := expr.Parse(c.Observe)
	if changed < 0 || !is || c.Mode.Grows() {
		return ""
	}
	counts, found := c.counting(changed), false
	look := func(in counting, e ast.Expr) { found = found || in.isLast(e) }
	expr.Walk(counts, observe, counting.bodies, look)
	if must, is := expr.Parse(c.Must); is {
		expr.Walk(counts.with("it", value{observe, counts}), must, counting.bodies, look)
	}
	if !found {
		return ""
	}
	by := c.cell.Steps[changed]
	return fmt.Sprintf("it looks at the last of what was seen since the cell began, which may have been there before step %d (%s): filter by at > since first",
		by.Number, by.Action.Describe())
}

// isLast reports whether an expression is the last item of a list of what happened: its
// index is the size of the same list less something.
func (c counting) isLast(e ast.Expr) bool {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Index {
		return false
	}
	list, index := e.AsCall().Args()[0], e.AsCall().Args()[1]
	if index.Kind() != ast.CallKind || index.AsCall().FunctionName() != operators.Subtract {
		return false
	}
	_, fromTheEnd := expr.Sized(index.AsCall().Args()[0])
	return fromTheEnd && c.happened(list)
}

// happened reports whether a value is a list of what happened to something that was there
// before. The last of the versions of an object is how it is, whenever that came about.
func (c counting) happened(list ast.Expr) bool {
	return c.list(list) && !c.may(list, func(c counting, e ast.Expr) bool {
		for e.Kind() == ast.CallKind && e.AsCall().IsMemberFunction() {
			e = c.standsFor(e.AsCall().Target()).Expr
		}
		return indexes(e, "history") || e.Kind() == ast.SelectKind && slices.Contains([]string{"changes", "views"}, e.AsSelect().FieldName())
	})
}
