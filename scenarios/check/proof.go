package check

import (
	"reflect"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/expr"
)

// isProof reports whether what decided a check was seen, so that no event that was missed can change it: the state of an
// object, or that something happened at least so often. That something is absent, or happened exactly or at most so often,
// is no proof.
func (c *compiled) isProof(outcome reports.Outcome) bool {
	observe, is := expr.Parse(c.Observe)
	if !is {
		return false
	}
	of := evidence{Scope: expr.Scope{}}
	if c.Mode.Grows() {
		return of.count(observe) || of.seen(observe)
	}
	// never fails once what it looks at is so, and the others fail once it is not.
	holds := (outcome == reports.Pass) != (c.Mode == record.Never)
	if must, is := expr.Parse(c.Must); is {
		return evidence{expr.Seeing(c.Observe), observe}.proves(must, holds)
	}
	if want, is := c.Is.(bool); is {
		return of.proves(observe, want == holds)
	}
	return of.seen(observe)
}

// evidence says what the values of an expression rest on.
type evidence struct {
	expr.Scope
	it ast.Expr // what the name it stands for, if the expression sees it
}

// through is the evidence for the body of a macro.
func (v evidence) through(call ast.CallExpr) (body evidence, parts []ast.Expr, is bool) {
	inner, parts, is := v.Through(call)
	return evidence{inner, v.it}, parts, is
}

// observed is what an expression stands for if that is it.
func (v evidence) observed(e ast.Expr) (ast.Expr, bool) {
	return v.it, v.it != nil && e.Kind() == ast.IdentKind && e.AsIdent() == "it"
}

// proves reports whether a condition that is true, or false if want is false, is so whatever was missed.
func (v evidence) proves(e ast.Expr, want bool) bool {
	if it, is := v.observed(e); is {
		return evidence{Scope: expr.Scope{}}.proves(it, want)
	}
	if e.Kind() != ast.CallKind {
		return v.seen(e)
	}
	call, args := e.AsCall(), e.AsCall().Args()
	switch call.FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		return v.proves(args[0], want) && v.proves(args[1], want)
	case operators.LogicalNot:
		return v.proves(args[0], !want)
	case operators.Greater, operators.GreaterEquals:
		return v.more(args[0], args[1], want)
	case operators.Less, operators.LessEquals:
		return v.more(args[1], args[0], want)
	case operators.In:
		return v.seen(e) || want && v.seen(args[0]) && v.collection(args[1])
	case "exists", "all":
		body, parts, _ := v.through(call)
		one := want == (call.FunctionName() == "exists") // one item is enough
		return (v.seen(call.Target()) || one && v.collection(call.Target())) && body.proves(parts[1], want)
	}
	return v.seen(e)
}

// more reports whether it is proof that a value is more than another one, or that it is not if want is false.
func (v evidence) more(big, small ast.Expr, want bool) bool {
	return v.seen(big) && v.seen(small) || want && v.count(big) && v.seen(small) || !want && v.seen(big) && v.count(small)
}

// count reports whether a value is a number of things that happened, which is larger if some were missed.
func (v evidence) count(e ast.Expr) bool {
	if it, is := v.observed(e); is {
		return evidence{Scope: expr.Scope{}}.count(it)
	}
	if of, is := expr.Sized(e); is {
		return v.collection(of)
	}
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Add {
		args := e.AsCall().Args()
		return v.count(args[0]) && v.count(args[1])
	}
	return v.adds(e) == aCount
}

// collection reports whether a value has what happened, or the objects that were seen, and more if some was missed.
func (v evidence) collection(e ast.Expr) bool {
	if it, is := v.observed(e); is {
		return evidence{Scope: expr.Scope{}}.collection(it)
	}
	if e.Kind() != ast.CallKind {
		return v.isCollection(e)
	}
	call := e.AsCall()
	switch call.FunctionName() {
	case "filter":
		body, parts, _ := v.through(call)
		return v.collection(call.Target()) && body.proves(parts[1], true)
	case "map":
		body, parts, _ := v.through(call)
		filtered := len(parts) < 3 || body.proves(parts[1], true)
		return v.collection(call.Target()) && filtered && body.seen(parts[len(parts)-1])
	case "distinct", "flatten", "sort":
		return v.collection(call.Target())
	case operators.Add:
		return v.collection(call.Args()[0]) && v.collection(call.Args()[1])
	case operators.Index:
		return v.isCollection(e) && v.seen(call.Args()[1])
	}
	return false
}

// isCollection reports whether a value is a variable, or a list that one has.
func (v evidence) isCollection(e ast.Expr) bool {
	return v.Of(e).IsCollection() || v.adds(e) == aList
}

// added is what is added to while a cell runs.
type added int

const (
	nothing added = iota
	aCount
	aList
)

// counts are the fields that say how often something happened.
var counts = []string{"starts", "restarts", "pods"}

// adds is what a field of something that has a name is, if it adds up from the beginning of the cell.
func (v evidence) adds(e ast.Expr) added {
	in, name, is := expr.FieldOf(e)
	if !is {
		return nothing
	}
	m := v.Of(in)
	known, is := expr.VariableOf(m.Of)
	if !m.IsValue() || !is || !known.Adds {
		return nothing
	}
	switch f, is := known.Field(name); {
	case !is:
		return nothing
	case f.Kind() == reflect.Slice || f.Kind() == reflect.Map:
		return aList
	case slices.Contains(counts, name):
		return aCount
	}
	return nothing
}

// seen reports whether a value is that of something which was seen, and not of what happened, or of all that there is.
func (v evidence) seen(e ast.Expr) bool {
	if it, is := v.observed(e); is {
		return evidence{Scope: expr.Scope{}}.seen(it)
	}
	if v.isCollection(e) || v.adds(e) != nothing {
		return false
	}
	switch e.Kind() {
	case ast.SelectKind:
		of := e.AsSelect().Operand()
		return v.Of(of).Keyed && !e.AsSelect().IsTestOnly() || v.seen(of)
	case ast.ListKind:
		return v.allSeen(e.AsList().Elements())
	case ast.MapKind:
		return false
	case ast.CallKind:
		return v.seenCall(e.AsCall())
	}
	return true
}

func (v evidence) seenCall(call ast.CallExpr) bool {
	args := call.Args()
	switch call.FunctionName() {
	case operators.Index:
		if v.Of(args[0]).Keyed {
			return v.seen(args[1])
		}
	case operators.OptIndex, operators.OptSelect:
		if v.Of(args[0]).Keyed {
			return false // it may be absent
		}
	}
	body := v
	if through, parts, is := v.through(call); is {
		body, args = through, parts[1:]
	}
	return (!call.IsMemberFunction() || v.seen(call.Target())) && body.allSeen(args)
}

func (v evidence) allSeen(all []ast.Expr) bool {
	return !slices.ContainsFunc(all, func(e ast.Expr) bool { return !v.seen(e) })
}
