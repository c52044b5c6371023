package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/scenarios/expr"
)

// comparer finds the comparisons because of which a condition is not as it was to be.
type comparer struct {
	*explainer

	found []narrate.Compared
}

const (
	// maxCompared is how many comparisons of a check are shown.
	maxCompared = 4
	// maxDeep is how many conditions on members of something are looked into, one in the other.
	maxDeep = 2
	// isSet and notSet are what is wanted of a field that was to be there whatever it is, or not to be there; the
	// latter is also the value of one that is not.
	isSet, notSet = "any value", "not set"
	// neverWas is how that begins which no state of an object was to have.
	neverWas = "never "
)

// condition looks at a part of a condition.
func (c *comparer) condition(x *evaluated, e ast.Expr, wanted bool, deep int) {
	if value, is := x.values.Value(e.ID()); !is || value == types.Bool(wanted) {
		return
	}
	as := x.Macro(e)
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

func (c *comparer) comparison(x *evaluated, call ast.CallExpr, wanted bool) {
	left, right, function := call.Args()[0], call.Args()[1], call.FunctionName()
	missing, _ := x.values.Value(right.ID())
	if left.Kind() == ast.LiteralKind || types.IsError(missing) { // it says nothing, or the other side is at fault
		left, right, function = right, left, mirrored[function]
	}
	other, err := x.Text(right)
	if value, is := x.values.Value(right.ID()); is && right.Kind() != ast.LiteralKind && !types.IsError(value) {
		other = expr.JSON(value)
	}
	if err != nil {
		return
	}
	says := operatorOf[function] + " " + expr.ShowText(other, maxValue)
	if !wanted {
		says = "not " + says
	}
	before := len(c.found)
	c.add(x, left, says)
	if len(c.found) > before && right.Kind() != ast.LiteralKind && right.Kind() != ast.ListKind {
		c.found[before].Against, _ = x.Text(right)
	}
}

// presence is whether a field is there.
func (c *comparer) presence(x *evaluated, field ast.Expr, wanted bool) {
	text, err := x.Text(field)
	if err != nil || len(c.found) == maxCompared {
		return
	}
	found := narrate.Compared{What: text, Path: fieldPath(x.Source, field), Wanted: "== " + isSet, Value: notSet}
	if !wanted {
		found.Wanted, found.Value = "== "+notSet, c.valueOf(text)
	}
	c.found = append(c.found, found)
}

// valueOf is the value of an expression, as JSON.
func (c *comparer) valueOf(text string) string {
	program, _, err := expr.Compile(text)
	if err != nil {
		return ""
	}
	value, err := c.budget.Eval(c.ctx, text, program, c.vars)
	if err != nil {
		return ""
	}
	return expr.Show(value, maxValue)
}

// state is the field that no state of an object was to have so, and one had. It reports
// whether the condition is about one field.
func (c *comparer) state(x *evaluated, exists ast.CallExpr) bool {
	of := fieldPath(x.Source, exists.Target())
	if len(of) != 2 || of[0] != "history" || len(c.found) == maxCompared {
		return false
	}
	field, value := x.held(exists.Args()[1])
	whole, err := x.Text(x.Expr())
	if len(field) < 2 || err != nil {
		return false
	}
	c.found = append(c.found, narrate.Compared{What: whole, Path: append(of, field[1:]...), Wanted: neverWas + value, Value: value})
	return true
}

// held is the one field that a condition on a member is about, and its value: of
// has(p.status) && p.status.phase == "Failed", or of p.list.exists(c, c.name == "app" && c.ready).
// That other fields are there is no condition of its own.
func (x *evaluated) held(e ast.Expr) (field []string, value string) {
	e = x.Macro(e)
	if path := fieldPath(x.Source, e); len(path) > 1 {
		return path, "true"
	}
	if e.Kind() != ast.CallKind {
		return nil, ""
	}
	call := e.AsCall()
	switch call.FunctionName() {
	case operators.LogicalAnd:
		if left := x.Macro(call.Args()[0]); left.Kind() == ast.CallKind && left.AsCall().FunctionName() == "has" {
			return x.held(call.Args()[1])
		}
	case operators.Equals:
		if value := call.Args()[1]; value.Kind() == ast.LiteralKind {
			return fieldPath(x.Source, call.Args()[0]), expr.JSON(value.AsLiteral())
		}
	case "exists":
		return x.heldByNamed(call)
	}
	return nil, ""
}

// heldByNamed is a field of an element of a list that is chosen by its name.
func (x *evaluated) heldByNamed(exists ast.CallExpr) (field []string, value string) {
	and := x.Macro(exists.Args()[1])
	if and.Kind() != ast.CallKind || and.AsCall().FunctionName() != operators.LogicalAnd {
		return nil, ""
	}
	name, key := x.held(and.AsCall().Args()[0])
	inner, value := x.held(and.AsCall().Args()[1])
	list := fieldPath(x.Source, exists.Target())
	unquoted, err := strconv.Unquote(key)
	if len(name) != 2 || len(inner) < 2 || len(list) < 2 || err != nil {
		return nil, ""
	}
	return append(append(list, fmt.Sprintf("[%s=%s]", name[1], unquoted)), inner[1:]...), value
}

func (c *comparer) add(x *evaluated, e ast.Expr, wanted string) {
	text, err := x.Text(e)
	value, is := x.values.Value(e.ID())
	if err != nil || !is || len(c.found) == maxCompared {
		return
	}
	text = strings.ReplaceAll(text, "\n", " ")
	c.found = append(c.found, narrate.Compared{What: text, Path: fieldPath(x.Source, e), Wanted: wanted, Value: expr.Show(value, maxValue)})
}

// members looks at those of a map or a list that break what holds for all of them.
func (c *comparer) members(x *evaluated, e ast.Expr, call ast.CallExpr, wanted bool, deep int) {
	whole := len(c.found)
	names, condition := c.breaking(x, call, wanted)
	if deep < maxDeep {
		for _, name := range names {
			if member, is := c.evaluate(substituted(condition, call.Args()[0].AsIdent(), name)); is {
				c.condition(&member, member.Expr(), wanted, deep+1)
			}
		}
	}
	c.found = append(c.found[:whole], slices.DeleteFunc(c.found[whole:], func(of narrate.Compared) bool { return !ofRecord(of.What) })...)
	if len(c.found) == whole {
		c.collection(x, e, call, wanted, names)
	}
}

// ofRecord reports whether an expression reads anything of a record.
func ofRecord(text string) (reads bool) {
	e, is := expr.Parse(text)
	if !is {
		return true
	}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		reads = reads || e.Kind() == ast.IdentKind && expr.IsVariable(e.AsIdent())
	}))
	return reads
}

// maxNamed is how many members of a collection are named.
const maxNamed = 3

// collection is a list or a map of which one member, all, or none was to be so: how many it
// has, and how many of these are so, or are so in part.
func (c *comparer) collection(x *evaluated, e ast.Expr, call ast.CallExpr, wanted bool, breaking []string) {
	of, err := x.Text(call.Target())
	condition, err2 := x.Text(call.Args()[1])
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
	c.found = append(c.found, narrate.Compared{What: of, Wanted: wantedOf(call.FunctionName(), name, condition, wanted), Value: expr.ShowText(value, maxValue)})
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
	p, _, err := expr.Compile(of + ".size()")
	if err != nil {
		return 0, false
	}
	value, err := c.budget.Eval(c.ctx, of, p, c.vars)
	size, is := value.(types.Int)
	return int(size), err == nil && is
}

// fulfilled says how many members fulfil the first part of a condition, how many of these the
// next one, and so on, until none does.
func (c *comparer) fulfilled(x *evaluated, call ast.CallExpr, of, name string) string {
	var said, so []string
	for _, part := range x.conjuncts(call.Args()[1]) {
		text, err := x.Text(part)
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
func (x *evaluated) conjuncts(e ast.Expr) []ast.Expr {
	if as := x.Macro(e); as.Kind() == ast.CallKind && as.AsCall().FunctionName() == operators.LogicalAnd {
		return append(x.conjuncts(as.AsCall().Args()[0]), x.conjuncts(as.AsCall().Args()[1])...)
	}
	return []ast.Expr{e}
}

// breaking are the names of the members for which a condition is not as wanted: keys of a
// map, and texts of a list. The condition is the text of it.
func (c *comparer) breaking(x *evaluated, call ast.CallExpr, wanted bool) (names []string, condition string) {
	of, err := x.Text(call.Target())
	condition, err2 := x.Text(call.Args()[1])
	if err != nil || err2 != nil || call.Args()[0].Kind() != ast.IdentKind {
		return nil, ""
	}
	not := condition
	if wanted {
		not = "!(" + condition + ")"
	}
	program, _, err := expr.Compile(fmt.Sprintf("%s.filter(%s, %s)", of, call.Args()[0].AsIdent(), not))
	if err != nil {
		return nil, condition
	}
	value, err := c.budget.Eval(c.ctx, condition, program, c.vars)
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
