package check

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// meaning is what a value of an expression is, if it is of a variable that has something
// by name: a name, what has it, or a list or map of them.
type meaning struct {
	part  part
	of    string // the variable
	keyed bool   // a map: its keys are the names
	lists int    // how many lists are around it, within the map
}

type part int

const (
	neither part = iota
	oneKey
	oneValue
	oneContainer // in the lists of a pod
)

// isKey reports whether the value is a name.
func (m meaning) isKey() bool { return m.part == oneKey && m.lists == 0 }

// isObject reports whether the value is an object in the record.
func (m meaning) isObject() bool {
	return m.part == oneValue && m.ofObjects() && !m.keyed && m.lists == 0
}

// isComponent reports whether the value is a component.
func (m meaning) isComponent() bool {
	return m.part == oneValue && m.of == "components" && !m.keyed && m.lists == 0
}

// ofObjects reports whether the value is of the objects in the record.
func (m meaning) ofObjects() bool { return m.of == "objects" || m.of == "history" }

// sentPods is in place of a variable for the field of what a Pods API sends that has pods
// by name.
const sentPods = "pods of an answer"

// listsOfContainers are the fields of pods that have something of each container.
var listsOfContainers = []string{"containers", "initContainers", "containerStatuses", "initContainerStatuses"}

// scope is what the names in a part of an expression mean.
type scope map[string]meaning

// seeing is the scope of an expression that sees as it what another one is; nothing if
// that is empty.
func seeing(it string) scope {
	s := scope{}
	if observed, is := parse(it); is {
		s["it"] = scope{}.of(observed)
	}
	return s
}

// with is the scope with one name more.
func (s scope) with(name string, m meaning) scope {
	inner := scope{}
	maps.Copy(inner, s)
	inner[name] = m
	return inner
}

// of returns what the value of an expression is.
func (s scope) of(e ast.Expr) meaning {
	if in, field, is := fieldOf(e); is && slices.Contains(listsOfContainers, field) && !s.of(in).keyed {
		return meaning{part: oneContainer, lists: 1}
	}
	if in, field, is := fieldOf(e); is && field == "pods" && !s.of(in).keyed {
		return meaning{part: oneValue, of: sentPods, keyed: true}
	}
	switch e.Kind() {
	case ast.IdentKind:
		name := e.AsIdent()
		if m, is := s[name]; is {
			return m
		}
		if v, is := variableOf(name); is {
			return meaning{part: oneValue, of: name, keyed: true, lists: v.lists()}
		}
	case ast.SelectKind:
		if m := s.of(e.AsSelect().Operand()); m.keyed && !e.AsSelect().IsTestOnly() {
			return m.at()
		}
	case ast.ListKind:
		return s.listOf(e.AsList().Elements())
	case ast.CallKind:
		return s.ofCall(e.AsCall())
	}
	return meaning{}
}

// ofCall returns what the value of a call is.
func (s scope) ofCall(call ast.CallExpr) meaning {
	args := call.Args()
	switch call.FunctionName() {
	case operators.Index, operators.OptIndex:
		return s.of(args[0]).at()
	case "first", "last":
		return s.of(call.Target()).at()
	case operators.Conditional:
		return s.either(args[1:])
	case operators.Add:
		return s.either(args)
	case "filter":
		inner, of, _ := s.through(call)
		return inner.listOf(of[:1])
	case "map":
		inner, of, _ := s.through(call)
		return inner.listOf(of[len(of)-1:])
	case "value", "orValue", "distinct", "reverse", "slice", "sort", "sortBy":
		return s.of(call.Target())
	case "flatten":
		if m := s.of(call.Target()); m.lists > 1 {
			return meaning{part: m.part, of: m.of, lists: 1}
		}
	}
	return meaning{}
}

// through returns what the parts of a call mean that goes through a list or a map, such
// as exists, and those parts: the variable, and what is evaluated for each.
func (s scope) through(call ast.CallExpr) (inner scope, parts []ast.Expr, is bool) {
	parts = call.Args()
	switch call.FunctionName() {
	case "all", "exists", "exists_one", "existsOne", "filter", "map", "sortBy":
		return s.with(parts[0].AsIdent(), s.of(call.Target()).each()), parts, true
	}
	return nil, nil, false
}

// listOf is what a list of expressions is.
func (s scope) listOf(elements []ast.Expr) meaning {
	m := s.either(elements)
	if m.part == neither || m.keyed {
		return meaning{}
	}
	m.lists++
	return m
}

// either is what one of the expressions is.
func (s scope) either(all []ast.Expr) meaning {
	for _, e := range all {
		if m := s.of(e); m.part != neither {
			return m
		}
	}
	return meaning{}
}

// each is what goes through a value.
func (m meaning) each() meaning {
	switch {
	case m.keyed:
		return meaning{part: oneKey, of: m.of}
	case m.lists > 0:
		return meaning{part: m.part, of: m.of, lists: m.lists - 1}
	}
	return meaning{}
}

// at is what a value has at a key or an index.
func (m meaning) at() meaning {
	switch {
	case m.keyed:
		return meaning{part: m.part, of: m.of, lists: m.lists}
	case m.lists > 0:
		return meaning{part: m.part, of: m.of, lists: m.lists - 1}
	}
	return meaning{}
}

// named is a constant of an expression that names something of a variable.
type named struct {
	of   string // the variable
	how  how
	text string
	id   int64 // of the expression
}

// how is how an expression names something.
type how int

const (
	aKey       how = iota // by its key
	aBeginning            // by how keys begin
	aKind                 // by the kind of an object
	aName                 // by the name of a container, in a pod
)

// visit calls found for all constants of an expression that name something.
func (s scope) visit(e ast.Expr, found func(named)) {
	s.walk(e, func(s scope, e ast.Expr) {
		switch e.Kind() {
		case ast.SelectKind:
			if m := s.of(e.AsSelect().Operand()); m.keyed {
				found(named{m.of, aKey, e.AsSelect().FieldName(), e.ID()})
			}
		case ast.CallKind:
			s.compared(e.AsCall(), found)
		}
	})
}

// walk calls look for all parts of an expression, with what names mean there.
func (s scope) walk(e ast.Expr, look func(scope, ast.Expr)) {
	switch e.Kind() {
	case ast.ListKind:
		for _, e := range e.AsList().Elements() {
			s.walk(e, look)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			s.walk(entry.AsMapEntry().Key(), look)
			s.walk(entry.AsMapEntry().Value(), look)
		}
	case ast.SelectKind:
		s.walk(e.AsSelect().Operand(), look)
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			s.walk(call.Target(), look)
		}
		inner := s
		if through, _, is := s.through(call); is {
			inner = through
		}
		for _, arg := range call.Args() {
			inner.walk(arg, look)
		}
	}
	look(s, e)
}

// compared calls found for the constants with which a call compares keys or kinds.
func (s scope) compared(call ast.CallExpr, found func(named)) {
	args := call.Args()
	switch call.FunctionName() {
	case "startsWith":
		if call.IsMemberFunction() {
			if m := s.of(call.Target()); m.isKey() {
				constants(args, m.of, aBeginning, found)
			}
		}
	case operators.Index, operators.OptIndex, operators.OptSelect:
		if m := s.of(args[0]); m.keyed {
			constants(args[1:], m.of, aKey, found)
		}
	case operators.In:
		if m := s.of(args[1]); m.keyed {
			constants(args[:1], m.of, aKey, found)
		}
		if args[1].Kind() == ast.ListKind {
			s.equal(args[0], args[1].AsList().Elements(), found)
		}
	case operators.Equals, operators.NotEquals:
		s.equal(args[0], args[1:], found)
		s.equal(args[1], args[:1], found)
	}
}

// equal calls found for the constants that a key or a kind is to be equal to.
func (s scope) equal(e ast.Expr, to []ast.Expr, found func(named)) {
	if m := s.of(e); m.isKey() {
		constants(to, m.of, aKey, found)
	} else if s.isKind(e) {
		constants(to, "objects", aKind, found)
	} else if in, field, is := fieldOf(e); is && field == "name" && s.of(in) == (meaning{part: oneContainer}) {
		constants(to, "containers", aName, found)
	}
}

// isKind reports whether an expression is the kind of an object, and not that of
// something within one, such as an owner.
func (s scope) isKind(e ast.Expr) bool {
	if in, field, is := fieldOf(e); is {
		return field == "kind" && s.of(in).isObject()
	}
	if e.Kind() == ast.CallKind && slices.Contains([]string{"value", "orValue"}, e.AsCall().FunctionName()) {
		return s.isKind(e.AsCall().Target())
	}
	return false
}

// ofComponent is the field of a component that an expression is, or empty.
func (s scope) ofComponent(e ast.Expr) string {
	if in, field, is := fieldOf(e); is && s.of(in).isComponent() {
		return field
	}
	return ""
}

// fieldOf is the field that an expression is, and of what.
func fieldOf(e ast.Expr) (of ast.Expr, field string, is bool) {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().Operand(), e.AsSelect().FieldName(), true
	case ast.CallKind:
		switch args := e.AsCall().Args(); e.AsCall().FunctionName() {
		case operators.OptSelect, operators.Index, operators.OptIndex:
			field, is = textOf(args[1])
			return args[0], field, is
		}
	}
	return nil, "", false
}

// constants calls found for those of the expressions that are texts.
func constants(all []ast.Expr, of string, as how, found func(named)) {
	for _, e := range all {
		if text, is := textOf(e); is {
			found(named{of, as, text, e.ID()})
		}
	}
}

// textOf is the text that an expression is.
func textOf(e ast.Expr) (text string, is bool) {
	if e.Kind() == ast.LiteralKind {
		text, is = e.AsLiteral().Value().(string)
	}
	return text, is
}
