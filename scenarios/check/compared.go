package check

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/action"
)

// Compared is a comparison because of which a check does not hold, as it was when that was
// decided. It is for people, and no part of the verdict.
type Compared struct {
	// What is the expression that was compared. Path is the field that it reads, if it
	// is no more than that: pods, web, status, phase. An element of a list is "[0]", or
	// "[name=app]" if it is chosen by its name.
	What string
	Path []string
	// Wanted is what it was to be: `== "HTTP2"`, `satisfies it > 2`. Value is what it was.
	// Of a field that was to be there, or not, see Set and Unset.
	Wanted, Value string
	// Since is when it got that value, as far as the history says.
	Since time.Time
}

// What is wanted of a field that was to be there whatever it is, or not to be there; the
// latter is also the value of one that is not.
const (
	Set   = "any value"
	Unset = "not set"
)

// Never is how that begins which no state of an object was to have.
const Never = "never "

// maxCompared is how many comparisons of a check are told.
const maxCompared = 4

// ComparedIn returns the comparisons because of which the checks of a result do not hold,
// by the check's id.
func ComparedIn(result reports.Cell, events []record.Event) map[string][]Compared {
	all := make(map[string][]Compared)
	var windows map[string]*timeline.Window
	var sought []seeking
	for _, c := range result.Checks {
		if c.Outcome != reports.Fail && !c.Outcome.Recorded() {
			continue
		}
		if windows == nil {
			windows = timeline.Of(events).Windows
		}
		in := windows[c.ID]
		if in == nil || in.Closed == nil {
			continue
		}
		when, what, _ := strings.Cut(c.Expected, ": ")
		t := decided(c.ID, when, what, events, in)
		if found := comparedIn(what, c.Observed, vars(t)); len(found) > 0 {
			all[c.ID] = found
			for i := range found {
				sought = append(sought, seek(&found[i], len(t.Events)))
			}
		}
	}
	since(slices.DeleteFunc(sought, func(s seeking) bool { return s.Program == nil }), events)
	return all
}

// decided is how it was when a check was decided.
func decided(id, when, what string, events []record.Event, in *timeline.Window) *timeline.Timeline {
	mode, _, _ := strings.Cut(when, " ")
	c := action.Check{ID: id, Mode: modes[mode]}
	if observe, must, is := strings.Cut(what, " satisfies "); is {
		c.Observe, c.Must = observe, must
	} else if observe, wanted, is := cutEqual(what); is {
		c.Observe = observe
		_ = json.Unmarshal([]byte(wanted), &c.Is) // it is valid
	}
	compiled, err := compileCheck(c)
	if err != nil || c.Observe == "" || c.Mode == "" || c.Mode == record.Now {
		return timeline.Of(events[:in.To.Place])
	}
	return decidedAt(compiled, events, in)
}

// comparedIn are the comparisons in what a check expects, as it is described.
func comparedIn(what, observed string, vars map[string]any) []Compared {
	if observe, must, is := strings.Cut(what, " satisfies "); is {
		return one(observe, "satisfies "+must, observed)
	}
	if i := strings.LastIndex(what, " grows by "); i >= 0 {
		return one(what[:i], what[i+1:], observed)
	}
	observe, wanted, is := cutEqual(what)
	if !is {
		return nil
	}
	if wanted == "true" || wanted == "false" {
		c := comparer{vars: vars}
		c.look(observe, wanted == "true", 0)
		return c.found
	}
	return one(observe, "== "+wanted, observed)
}

// cutEqual cuts a description before the value that is wanted, which is JSON.
func cutEqual(what string) (observe, wanted string, is bool) {
	for end := len(what); ; {
		i := strings.LastIndex(what[:end], " == ")
		if i < 0 {
			return "", "", false
		}
		if wanted = what[i+len(" == "):]; json.Valid([]byte(wanted)) {
			return what[:i], wanted, true
		}
		end = i
	}
}

// one is a comparison of a whole expression.
func one(observe, wanted, value string) []Compared {
	c := Compared{What: observe, Wanted: wanted, Value: value}
	if checked := asWritten(observe); checked != nil {
		x := explained{ast: checked.NativeRep()}
		c.Path = x.path(x.ast.Expr())
	}
	if n := len(c.Path); n > 0 && strings.HasPrefix(c.Path[n-1], "*") { // one of a list with one
		c.Path[n-1] = c.Path[n-1][1:]
		c.Wanted, c.Value = unlisted(c.Wanted), unlisted(c.Value)
	}
	return []Compared{c}
}

// unlisted is a list with one value as the value.
func unlisted(text string) string {
	op, list := "", text
	if rest, is := strings.CutPrefix(text, "== "); is {
		op, list = "== ", rest
	}
	var values []json.RawMessage
	if err := json.Unmarshal([]byte(list), &values); err != nil || len(values) != 1 {
		return text
	}
	return op + string(values[0])
}

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

// comparer finds what makes a condition false, or true.
type comparer struct {
	vars  map[string]any
	found []Compared
}

// maxDeep is how many conditions on members of something are looked into, one in the other.
const maxDeep = 2

// look looks into a condition that was to be so, and is not.
func (c *comparer) look(text string, wanted bool, deep int) {
	checked := asWritten(text)
	if checked == nil {
		return
	}
	env, _ := language()
	program, err := env.Program(checked, cel.EvalOptions(cel.OptExhaustiveEval), cel.InterruptCheckFrequency(maxExplained))
	if err != nil {
		return
	}
	_, details, _ := program.ContextEval(cancelled, c.vars)
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
	case slices.Contains(comparing, name) && name != operators.In: // all that something is not in would say nothing
		c.comparison(x, call, wanted)
	case name == "has":
		c.presence(x, call.Args()[0], wanted)
	case name == "exists" && !wanted && c.state(x, call):
	case name == "all" && wanted || name == "exists" && !wanted:
		c.members(x, e, call, wanted, deep)
	default:
		c.add(x, e, "== "+strconv.FormatBool(wanted))
	}
}

// operatorOf is how people write comparisons.
var operatorOf = map[string]string{
	operators.Equals: "==", operators.NotEquals: "!=", operators.Less: "<", operators.LessEquals: "<=", operators.Greater: ">", operators.GreaterEquals: ">=", operators.In: "in",
}

func (c *comparer) comparison(x *explained, call ast.CallExpr, wanted bool) {
	left, right := call.Args()[0], call.Args()[1]
	other, err := cel.ExprToString(right, x.ast.SourceInfo())
	if value, is := x.values.Value(right.ID()); is && right.Kind() != ast.LiteralKind && !types.IsError(value) {
		other = asJSON(value)
	}
	if err != nil {
		return
	}
	says := operatorOf[call.FunctionName()] + " " + shorten(withoutRig(other), maxValue)
	if !wanted {
		says = "not " + says
	}
	c.add(x, left, says)
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
	value, _, err := program.Eval(c.vars)
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
	names, condition := x.breaking(call, wanted, c.vars)
	if deep < maxDeep {
		for _, name := range names {
			c.look(substituted(condition, call.Args()[0].AsIdent(), name), wanted, deep+1)
		}
	}
	if len(c.found) == whole {
		c.add(x, e, "== "+strconv.FormatBool(wanted))
	}
}

// breaking are the names of the members for which a condition is not as wanted: keys of a
// map, and texts of a list. The condition is the text of it.
func (x *explained) breaking(call ast.CallExpr, wanted bool, vars map[string]any) (names []string, condition string) {
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
	value, _, err := program.Eval(vars)
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

// seeking is a comparison of which it is sought since when its value is as it is.
type seeking struct {
	cel.Program

	found *Compared
	until int      // so many events
	names []string // of what it looks at; if there are none, at anything
	looks int
	last  string
}

// maxLooks is how often a value is looked at. Where that is not enough, it is not told
// since when it is as it is.
const maxLooks = 1000

func seek(c *Compared, until int) seeking {
	s := seeking{found: c, until: until}
	s.Program, _, _ = compile(c.What)
	if e, is := parse(c.What); is {
		s.names = onlyNamed(e)
	}
	return s
}

// onlyNamed are the last parts of the names of all that an expression looks at. There are
// none if it looks at something that it does not name.
func onlyNamed(e ast.Expr) (names []string) {
	keyed, all := make(map[int64]bool), true
	isVariable := func(e ast.Expr) bool {
		_, is := variableOf(e.AsIdent())
		return e.Kind() == ast.IdentKind && is
	}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if in, key, is := fieldOf(e); is && isVariable(in) {
			keyed[in.ID()] = true
			names = append(names, path.Base(key))
		}
		all = all && (!isVariable(e) || keyed[e.ID()])
	}))
	if !all {
		return nil
	}
	return names
}

// mayChange reports whether what is looked at may change with an event.
func (s *seeking) mayChange(e record.Event) bool {
	return len(s.names) == 0 || slices.ContainsFunc(s.names, func(name string) bool { return strings.Contains(e.Subject, name) })
}

// since finds since when each value is as it is. What has always been so is so since the
// zero time.
func since(sought []seeking, events []record.Event) {
	if len(sought) == 0 {
		return
	}
	t := timeline.New()
	for i, e := range events {
		t.Add(e)
		if !visible[e.Kind] {
			continue
		}
		for n := range sought {
			if s := &sought[n]; i < s.until && s.mayChange(e) {
				s.look(t, e.At)
			}
		}
	}
	for _, s := range sought {
		if s.looks > maxLooks {
			s.found.Since = time.Time{}
		}
	}
}

func (s *seeking) look(t *timeline.Timeline, at time.Time) {
	if s.looks++; s.looks > maxLooks {
		return
	}
	now := ""
	if value, _, err := s.Eval(vars(t)); err == nil {
		now = asJSON(value)
	}
	if now != s.last {
		s.last, s.found.Since = now, at
	}
}
