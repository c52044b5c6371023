package check

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"

	"github.com/skewrig/skewrig/reports"
)

// comparer finds what makes a condition false, or true.
type comparer struct {
	ctx    context.Context
	budget *budget
	vars   map[string]any
	found  []Compared
}

// maxDeep is how many conditions on members of something are looked into, one in the other.
const maxDeep = 2

// look looks into a condition that was to be so, and is not.
func (c *comparer) look(text string, wanted bool, deep int) {
	checked := asWritten(text)
	if checked == nil {
		return
	}
	_, details := c.budget.explain(c.ctx, checked, c.vars)
	if details == nil {
		return
	}
	x := explained{ast: checked.NativeRep(), values: details.State()}
	c.condition(&x, x.ast.Expr(), wanted, deep)
}

// condition looks at a part of a condition.
func (c *comparer) condition(x *explained, e ast.Expr, wanted bool, deep int) {
	if value, is := x.values.Value(e.ID()); !is || value == types.Bool(wanted) {
		return
	}
	as := x.written(e)
	if as.Kind() != ast.CallKind {
		c.add(x, e, "== "+strconv.FormatBool(wanted))
		return
	}
	call := as.AsCall()
	switch name := call.FunctionName(); {
	case name == operators.LogicalNot:
		c.condition(x, call.Args()[0], !wanted, deep)
	case name == operators.LogicalAnd || name == operators.LogicalOr:
		for _, side := range call.Args() {
			c.condition(x, side, wanted, deep)
		}
	case name == operators.Equals && isLiteral(call.Args()[1], types.True) || name == operators.NotEquals && isLiteral(call.Args()[1], types.False):
		c.condition(x, call.Args()[0], wanted, deep)
	case name == operators.Equals && isLiteral(call.Args()[1], types.False) || name == operators.NotEquals && isLiteral(call.Args()[1], types.True):
		c.condition(x, call.Args()[0], !wanted, deep)
	case slices.Contains(comparing, name) && name != operators.In: // all that something is not in would say nothing
		c.comparison(x, call, wanted)
	case name == "has":
		c.presence(x, call.Args()[0], wanted)
	case name == "exists" && !wanted && c.state(x, call):
	case name == "all" && wanted || name == "exists" && !wanted:
		c.members(x, e, call, wanted, deep)
	case name == "exists" || name == "all" || name == "exists_one":
		c.collection(x, e, call, wanted, nil)
	default:
		c.add(x, e, "== "+strconv.FormatBool(wanted))
	}
}

// operatorOf is how people write comparisons.
var operatorOf = map[string]string{
	operators.Equals: "==", operators.NotEquals: "!=", operators.Less: "<", operators.LessEquals: "<=", operators.Greater: ">", operators.GreaterEquals: ">=", operators.In: "in",
}

// mirrored are comparisons by those with the sides changed.
var mirrored = map[string]string{
	operators.Equals: operators.Equals, operators.NotEquals: operators.NotEquals, operators.Less: operators.Greater,
	operators.LessEquals: operators.GreaterEquals, operators.Greater: operators.Less, operators.GreaterEquals: operators.LessEquals,
}

// isLiteral reports whether an expression is a value as it is written.
func isLiteral(e ast.Expr, value types.Bool) bool {
	return e.Kind() == ast.LiteralKind && e.AsLiteral() == value
}

func (c *comparer) comparison(x *explained, call ast.CallExpr, wanted bool) {
	left, right, function := call.Args()[0], call.Args()[1], call.FunctionName()
	missing, _ := x.values.Value(right.ID())
	if left.Kind() == ast.LiteralKind || types.IsError(missing) { // it says nothing, or the other side is at fault
		left, right, function = right, left, mirrored[function]
	}
	other, err := cel.ExprToString(right, x.ast.SourceInfo())
	if value, is := x.values.Value(right.ID()); is && right.Kind() != ast.LiteralKind && !types.IsError(value) {
		other = asJSON(value)
	}
	if err != nil {
		return
	}
	says := operatorOf[function] + " " + shorten(withoutRig(other), maxValue)
	if !wanted {
		says = "not " + says
	}
	before := len(c.found)
	c.add(x, left, says)
	if len(c.found) > before && right.Kind() != ast.LiteralKind && right.Kind() != ast.ListKind {
		c.found[before].Against, _ = cel.ExprToString(right, x.ast.SourceInfo())
	}
}

// presence is whether a field is there.
func (c *comparer) presence(x *explained, field ast.Expr, wanted bool) {
	text, err := cel.ExprToString(field, x.ast.SourceInfo())
	if err != nil || len(c.found) == maxCompared {
		return
	}
	found := Compared{What: text, Path: x.path(field), Wanted: "== " + Set, Value: Unset}
	if !wanted {
		found.Wanted, found.Value = "== "+Unset, c.valueOf(text)
	}
	c.found = append(c.found, found)
}

// valueOf is the value of an expression, as JSON.
func (c *comparer) valueOf(text string) string {
	program, _, err := compile(text)
	if err != nil {
		return ""
	}
	value, err := c.budget.eval(c.ctx, text, program, c.vars)
	if err != nil {
		return ""
	}
	return shorten(withoutRig(asJSON(value)), maxValue)
}

// state is the field that no state of an object was to have so, and one had. It reports
// whether the condition is about one field.
func (c *comparer) state(x *explained, exists ast.CallExpr) bool {
	of := x.path(exists.Target())
	if len(of) != 2 || of[0] != "history" || len(c.found) == maxCompared {
		return false
	}
	field, value := x.held(exists.Args()[1])
	whole, err := cel.ExprToString(x.ast.Expr(), x.ast.SourceInfo())
	if len(field) < 2 || err != nil {
		return false
	}
	c.found = append(c.found, Compared{What: whole, Path: append(of, field[1:]...), Wanted: Never + value, Value: value})
	return true
}

// held is the one field that a condition on a member is about, and its value: of
// has(p.status) && p.status.phase == "Failed", or of p.list.exists(c, c.name == "app" && c.ready).
// That other fields are there is no condition of its own.
func (x *explained) held(e ast.Expr) (field []string, value string) {
	e = x.written(e)
	if path := x.path(e); len(path) > 1 {
		return path, "true"
	}
	if e.Kind() != ast.CallKind {
		return nil, ""
	}
	call := e.AsCall()
	switch call.FunctionName() {
	case operators.LogicalAnd:
		if left := x.written(call.Args()[0]); left.Kind() == ast.CallKind && left.AsCall().FunctionName() == "has" {
			return x.held(call.Args()[1])
		}
	case operators.Equals:
		if value := call.Args()[1]; value.Kind() == ast.LiteralKind {
			return x.path(call.Args()[0]), asJSON(value.AsLiteral())
		}
	case "exists":
		return x.heldByNamed(call)
	}
	return nil, ""
}

// heldByNamed is a field of an element of a list that is chosen by its name.
func (x *explained) heldByNamed(exists ast.CallExpr) (field []string, value string) {
	and := x.written(exists.Args()[1])
	if and.Kind() != ast.CallKind || and.AsCall().FunctionName() != operators.LogicalAnd {
		return nil, ""
	}
	name, key := x.held(and.AsCall().Args()[0])
	inner, value := x.held(and.AsCall().Args()[1])
	list := x.path(exists.Target())
	unquoted, err := strconv.Unquote(key)
	if len(name) != 2 || len(inner) < 2 || len(list) < 2 || err != nil {
		return nil, ""
	}
	return append(append(list, fmt.Sprintf("[%s=%s]", name[1], unquoted)), inner[1:]...), value
}

func (c *comparer) add(x *explained, e ast.Expr, wanted string) {
	text, err := cel.ExprToString(e, x.ast.SourceInfo())
	value, is := x.values.Value(e.ID())
	if err != nil || !is || len(c.found) == maxCompared {
		return
	}
	shown := asJSON(value)
	if failure, is := value.(*types.Err); is {
		shown = failure.Error()
	}
	text = strings.ReplaceAll(text, "\n", " ")
	c.found = append(c.found, Compared{What: text, Path: x.path(e), Wanted: wanted, Value: shorten(withoutRig(shown), maxValue)})
}

// members looks at those of a map or a list that break what holds for all of them.
func (c *comparer) members(x *explained, e ast.Expr, call ast.CallExpr, wanted bool, deep int) {
	whole := len(c.found)
	names, condition := c.breaking(x, call, wanted)
	if deep < maxDeep {
		for _, name := range names {
			c.look(substituted(condition, call.Args()[0].AsIdent(), name), wanted, deep+1)
		}
	}
	c.found = append(c.found[:whole], slices.DeleteFunc(c.found[whole:], func(of Compared) bool { return !ofRecord(of.What) })...)
	if len(c.found) == whole {
		c.collection(x, e, call, wanted, names)
	}
}

// ofRecord reports whether an expression reads anything of a record.
func ofRecord(text string) (reads bool) {
	e, is := parse(text)
	if !is {
		return true
	}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		_, variable := variableOf(e.AsIdent())
		reads = reads || e.Kind() == ast.IdentKind && (variable || e.AsIdent() == "since")
	}))
	return reads
}

// maxNamed is how many members of a collection are named.
const maxNamed = 3

// collection is a list or a map of which one member, all, or none was to be so: how many it
// has, and how many of these are so, or are so in part.
func (c *comparer) collection(x *explained, e ast.Expr, call ast.CallExpr, wanted bool, breaking []string) {
	info := x.ast.SourceInfo()
	of, err := cel.ExprToString(call.Target(), info)
	condition, err2 := cel.ExprToString(call.Args()[1], info)
	many, found := c.count(of)
	if err != nil || err2 != nil || !found || len(c.found) == maxCompared {
		c.add(x, e, "== "+strconv.FormatBool(wanted))
		return
	}
	name := call.Args()[0].AsIdent()
	value := reports.Counted(many, "element")
	if len(breaking) > 0 {
		are := "such"
		if wanted {
			are = "not such"
		}
		value += fmt.Sprintf(", %d %s: %s", len(breaking), are, reports.Few(breaking, maxNamed))
	} else if parts := c.fulfilled(x, call, of, name); parts != "" && many > 0 {
		value += "; " + parts
	}
	c.found = append(c.found, Compared{What: of, Wanted: wantedOf(call.FunctionName(), name, condition, wanted), Value: shorten(withoutRig(value), maxValue)})
}

// wantedOf is what a macro asks of a collection, in words.
func wantedOf(macro, name, condition string, wanted bool) string {
	condition = strings.ReplaceAll(condition, "\n", " ")
	switch {
	case macro == "exists_one" && wanted:
		return fmt.Sprintf("exactly one element %s with %s", name, condition)
	case macro == "exists_one":
		return fmt.Sprintf("no or several elements %s with %s", name, condition)
	case macro == "exists" && wanted:
		return fmt.Sprintf("an element %s with %s", name, condition)
	case macro == "exists":
		return fmt.Sprintf("no element %s with %s", name, condition)
	case wanted:
		return fmt.Sprintf("only elements %s with %s", name, condition)
	default:
		return fmt.Sprintf("an element %s without %s", name, condition)
	}
}

// count is the size of a collection.
func (c *comparer) count(of string) (n int, found bool) {
	p, _, err := compile(of + ".size()")
	if err != nil {
		return 0, false
	}
	value, err := c.budget.eval(c.ctx, of, p, c.vars)
	size, is := value.(types.Int)
	return int(size), err == nil && is
}

// fulfilled says how many members fulfil the first part of a condition, how many of these the
// next one, and so on, until none does.
func (c *comparer) fulfilled(x *explained, call ast.CallExpr, of, name string) string {
	var said, so []string
	for _, part := range x.conjuncts(call.Args()[1]) {
		text, err := cel.ExprToString(part, x.ast.SourceInfo())
		if err != nil {
			break
		}
		so = append(so, "("+text+")")
		n, found := c.count(fmt.Sprintf("%s.filter(%s, %s)", of, name, strings.Join(so, " && ")))
		if !found {
			said = append(said, "of which some have no "+text)
			break
		}
		with := "with"
		if len(said) > 0 {
			with = "of these with"
		}
		said = append(said, fmt.Sprintf("%d %s %s", n, with, strings.ReplaceAll(text, "\n", " ")))
		if n == 0 {
			break
		}
	}
	return strings.Join(said, ", ")
}

// conjuncts are the conditions that are joined by &&.
func (x *explained) conjuncts(e ast.Expr) []ast.Expr {
	if as := x.written(e); as.Kind() == ast.CallKind && as.AsCall().FunctionName() == operators.LogicalAnd {
		return append(x.conjuncts(as.AsCall().Args()[0]), x.conjuncts(as.AsCall().Args()[1])...)
	}
	return []ast.Expr{e}
}

// breaking are the names of the members for which a condition is not as wanted: keys of a
// map, and texts of a list. The condition is the text of it.
func (c *comparer) breaking(x *explained, call ast.CallExpr, wanted bool) (names []string, condition string) {
	info := x.ast.SourceInfo()
	of, err := cel.ExprToString(call.Target(), info)
	condition, err2 := cel.ExprToString(call.Args()[1], info)
	if err != nil || err2 != nil || call.Args()[0].Kind() != ast.IdentKind {
		return nil, ""
	}
	not := condition
	if wanted {
		not = "!(" + condition + ")"
	}
	program, _, err := compile(fmt.Sprintf("%s.filter(%s, %s)", of, call.Args()[0].AsIdent(), not))
	if err != nil {
		return nil, condition
	}
	value, err := c.budget.eval(c.ctx, condition, program, c.vars)
	list, is := value.(traits.Lister)
	if err != nil || !is {
		return nil, condition
	}
	for it := list.Iterator(); it.HasNext() == types.True; {
		if name, is := it.Next().Value().(string); is {
			names = append(names, name)
		}
	}
	return names, condition
}

// substituted is a condition with a name in place of its variable.
func substituted(condition, variable, name string) string {
	var b strings.Builder
	for i, part := range strings.Split(condition, `"`) { // what is quoted stays
		if i > 0 {
			b.WriteByte('"')
		}
		if i%2 == 0 {
			free := regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(variable) + `\b`)
			part = free.ReplaceAllString(part, "${1}"+strings.ReplaceAll(strconv.Quote(name), "$", "$$"))
		}
		b.WriteString(part)
	}
	return b.String()
}
