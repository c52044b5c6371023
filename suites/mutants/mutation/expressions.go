package mutation

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// children makes the mutants of all expressions of a node.
func (g *generator) children(n ast.Node) {
	ast.Inspect(n, func(child ast.Node) bool {
		if child == nil || child == n {
			return true
		}
		switch child := child.(type) {
		case ast.Expr:
			g.expression(child)
			return false
		case ast.Stmt:
			g.statement(child)
			return false
		}
		return true
	})
}

func (g *generator) expression(e ast.Expr) {
	switch e := e.(type) {
	case nil, *ast.ArrayType, *ast.MapType, *ast.FuncType, *ast.StructType, *ast.InterfaceType, *ast.ChanType:
	case *ast.BasicLit:
		g.literal(e)
	case *ast.Ident:
		if e.Name == "true" || e.Name == "false" {
			g.wrap(e, fmt.Sprintf("mutant.Not(%d, ", g.mutant(e.Pos(), "not %s", e.Name)), ")")
		}
	case *ast.SelectorExpr:
		if !g.swap(e) {
			g.expression(e.X)
		}
	case *ast.BinaryExpr:
		g.binary(e)
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			g.condition(e)
		} else {
			g.expression(e.X)
		}
	case *ast.CallExpr:
		if !isLogger(e) {
			g.call(e)
		}
	case *ast.CompositeLit:
		g.composite(e)
	case *ast.FuncLit:
		g.block(e.Body.List)
	default:
		g.children(e)
	}
}

// call makes the mutants of a call. A type that is the first argument is none of
// its values.
func (g *generator) call(e *ast.CallExpr) {
	g.expression(e.Fun)
	for _, arg := range e.Args {
		g.expression(arg)
	}
}

// comparisons have other ones that differ for equal values, where values have an
// order.
var comparisons = map[token.Token]bool{
	token.EQL: false, token.NEQ: false,
	token.LSS: true, token.LEQ: true, token.GTR: true, token.GEQ: true,
}

func (g *generator) binary(e *ast.BinaryExpr) {
	_, compares := comparisons[e.Op]
	switch {
	case compares || e.Op == token.LAND || e.Op == token.LOR:
		g.condition(e)
	case g.duration(e):
	default:
		if !isConstant(e) {
			g.wrap(e, fmt.Sprintf("mutant.Zero(%d, ", g.mutant(e.Pos(), "result of %s is zero", e.Op)), ")")
		}
		g.expression(e.X)
		g.expression(e.Y)
	}
}

// duration makes the one mutant of a number of seconds, or of another unit.
func (g *generator) duration(e *ast.BinaryExpr) bool {
	if !isProduct(e) {
		return false
	}
	g.wrap(e, fmt.Sprintf("mutant.Pick(%d, ", g.mutant(e.Pos(), "twice as long")), ", 2*"+g.source(e)+")")
	return true
}

func isUnit(e ast.Expr) bool {
	s, is := e.(*ast.SelectorExpr)
	if !is {
		return false
	}
	of, is := s.X.(*ast.Ident)
	return is && of.Name == "time"
}

func isNumber(e ast.Expr) bool {
	l, is := e.(*ast.BasicLit)
	return is && l.Kind == token.INT
}

// isConstant reports whether an expression is made of literals only.
func isConstant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.ParenExpr:
		return isConstant(e.X)
	case *ast.BinaryExpr:
		return isConstant(e.X) && isConstant(e.Y)
	}
	return false
}

// condition makes the mutants in which a condition always holds, or never does.
func (g *generator) condition(e ast.Expr) {
	if e == nil {
		return
	}
	always, never := g.mutant(e.Pos(), "condition always true"), g.mutant(e.Pos(), "condition always false")
	g.wrap(e, "mutant.Cond(", fmt.Sprintf(", %d, %d)", always, never))
	g.operands(e)
}

// operands makes the mutants of the parts of a condition. A part that decides
// alone has been decided for the whole.
func (g *generator) operands(e ast.Expr) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		g.operands(e.X)
	case *ast.BinaryExpr:
		ordered, compares := comparisons[e.Op]
		switch {
		case ordered:
			id := g.mutant(e.OpPos, "%s or not for equal values", e.Op)
			g.wrap(e, fmt.Sprintf("mutant.Bound(%d, %q, ", id, e.Op), ")")
			g.replace(e.OpPos, e.OpPos+token.Pos(len(e.Op.String())), ",")
			g.compared(e.X)
			g.compared(e.Y)
		case compares:
			g.compared(e.X)
			g.compared(e.Y)
		default:
			g.operand(e.X, e.Op)
			g.operand(e.Y, e.Op)
		}
	case *ast.UnaryExpr:
		g.expression(e.X)
	case *ast.Ident:
	default:
		g.expression(e)
	}
}

// compared makes the mutants of one side of a comparison, in which a constant is
// covered by the comparison.
func (g *generator) compared(e ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit, *ast.Ident, *ast.SelectorExpr:
	default:
		g.expression(e)
	}
}

// operand makes the mutants of a side of && or ||.
func (g *generator) operand(e ast.Expr, op token.Token) {
	inner := e
	for {
		p, is := inner.(*ast.ParenExpr)
		if !is {
			break
		}
		inner = p.X
	}
	if b, is := inner.(*ast.BinaryExpr); is && b.Op == op {
		g.operands(b) // of the same && or ||
		return
	}
	always, never := 0, 0
	if op == token.LAND {
		always = g.mutant(e.Pos(), "part of && always true")
	} else {
		never = g.mutant(e.Pos(), "part of || always false")
	}
	g.wrap(e, "mutant.Cond(", fmt.Sprintf(", %d, %d)", always, never))
	g.operands(e)
}

func (g *generator) literal(e *ast.BasicLit) {
	switch e.Kind {
	case token.INT:
		g.pick(e, "", increased(e.Value))
	case token.FLOAT:
		g.pick(e, "", "0.5*"+e.Value)
	case token.STRING:
		other := `""`
		if e.Value == `""` {
			other = `"mutant"`
		}
		g.pick(e, "", other)
	}
}

// increased is a number and one.
func increased(number string) string {
	if n, err := strconv.Atoi(number); err == nil {
		return strconv.Itoa(n + 1)
	}
	return "1 + " + number
}

// pick has another value in place of one. If its type is unset, it is the one
// that the value has by default.
func (g *generator) pick(e ast.Expr, typ, other string) {
	id := g.mutant(e.Pos(), "another value (%s)", kindOf(other))
	if typ != "" {
		typ = "[" + typ + "]"
	}
	g.wrap(e, fmt.Sprintf("mutant.Pick%s(%d, ", typ, id), ", "+other+")")
}

func kindOf(other string) string {
	switch other {
	case `""`:
		return "an empty text"
	case `"mutant"`:
		return "some text"
	}
	return other
}

// swaps are constants with the ones that mutants have in their places.
var swaps = map[string]string{
	"probe.Success": "probe.Failure", "probe.Warning": "probe.Failure", "probe.Failure": "probe.Success", "probe.Unknown": "probe.Success",
	"results.Success": "results.Failure", "results.Failure": "results.Success", "results.Unknown": "results.Success",
	"time.Second":               "time.Millisecond",
	"v1.EventTypeWarning":       "v1.EventTypeNormal",
	"events.ContainerUnhealthy": "events.ContainerProbeWarning", "events.ContainerProbeWarning": "events.ContainerUnhealthy",
	"codes.FailedPrecondition": "codes.Unavailable", "codes.NotFound": "codes.Internal", "codes.InvalidArgument": "codes.Internal",
	"watch.Added": "watch.Modified", "watch.Modified": "watch.Added", "watch.Deleted": "watch.Modified",
	"podsv1alpha1.EventType_ADDED": "podsv1alpha1.EventType_MODIFIED", "podsv1alpha1.EventType_MODIFIED": "podsv1alpha1.EventType_ADDED",
	"podsv1alpha1.EventType_DELETED": "podsv1alpha1.EventType_MODIFIED", "podsv1alpha1.EventType_INITIAL_SYNC_COMPLETE": "podsv1alpha1.EventType_ADDED",
	"v1.PodPending": "v1.PodRunning", "v1.ConditionFalse": "v1.ConditionTrue",
	"codes.Internal": "codes.Unknown", "codes.ResourceExhausted": "codes.Internal", "codes.Unavailable": "codes.Internal",
}

func (g *generator) swap(e *ast.SelectorExpr) bool {
	other, known := swaps[g.source(e)]
	if known {
		g.pick(e, "", other)
	}
	return known
}

// composite makes the mutants of a list, in which one element is left out, and of
// a struct, in which one field is.
func (g *generator) composite(e *ast.CompositeLit) {
	if list, is := e.Type.(*ast.ArrayType); is && list.Len == nil && len(e.Elts) > 0 && !slices.ContainsFunc(e.Elts, isPair) {
		first := g.next
		for _, element := range e.Elts {
			g.mutant(element.Pos(), "element left out")
		}
		g.wrap(e, fmt.Sprintf("mutant.Drop(%d, ", first), ")")
	}
	_, isMap := e.Type.(*ast.MapType)
	for _, element := range e.Elts {
		pair, is := element.(*ast.KeyValueExpr)
		if !is {
			g.expression(element)
			continue
		}
		if _, named := pair.Key.(*ast.Ident); !named || isMap {
			g.expression(pair.Key)
		} else if isOption(pair.Value) {
			g.wrap(pair.Value, fmt.Sprintf("mutant.Zero(%d, ", g.mutant(pair.Pos(), "field %s left out", g.source(pair.Key))), ")")
		}
		g.expression(pair.Value)
	}
}

func isPair(e ast.Expr) bool {
	_, is := e.(*ast.KeyValueExpr)
	return is
}

// isOption reports whether the value of a field has a type that is not of the
// language, and no other mutant.
func isOption(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name != "true" && e.Name != "false" && e.Name != "nil"
	case *ast.CallExpr, *ast.SelectorExpr:
		return true
	}
	return false
}

// values makes the mutants of constants and variables. A constant that has one
// becomes a variable.
func (g *generator) values(d *ast.GenDecl) {
	if d.Tok != token.CONST && d.Tok != token.VAR {
		return
	}
	if d.Tok == token.CONST {
		if slices.ContainsFunc(d.Specs, isNotSimple) {
			return
		}
		g.replace(d.TokPos, d.TokPos+token.Pos(len("const")), "var")
	}
	for _, s := range d.Specs {
		spec := s.(*ast.ValueSpec)
		for i, value := range spec.Values {
			typ := g.Types[spec.Names[i].Name]
			if typ == "" && spec.Type != nil {
				typ = g.source(spec.Type)
			}
			switch literal, is := value.(*ast.BasicLit); {
			case is && literal.Kind == token.INT:
				g.pick(value, typ, increased(literal.Value))
			case !is && isConstant(value):
				g.pick(value, typ, "1")
			default:
				g.expression(value)
			}
		}
	}
}

// isNotSimple reports whether constants are not all made of literals and units of
// time.
func isNotSimple(s ast.Spec) bool {
	spec, is := s.(*ast.ValueSpec)
	return !is || len(spec.Values) == 0 || slices.ContainsFunc(spec.Values, func(e ast.Expr) bool {
		name, named := e.(*ast.Ident)
		return !isConstant(e) && !isProduct(e) && (!named || name.Name != "true" && name.Name != "false")
	})
}

// isProduct reports whether an expression is a number of seconds, or of another
// unit.
func isProduct(e ast.Expr) bool {
	b, is := e.(*ast.BinaryExpr)
	return is && b.Op == token.MUL && (isUnit(b.X) && isNumber(b.Y) || isNumber(b.X) && isUnit(b.Y))
}
