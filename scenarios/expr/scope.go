package expr

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// Meaning is what a value of an expression is, if it is of a variable that has something
// by name: a name, what has it, or a list or map of them.
type Meaning struct {
	part  part
	Of    string // the variable
	Keyed bool   // a map: its keys are the names
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
func (m Meaning) isKey() bool { return m.part == oneKey && m.lists == 0 }

// IsValue reports whether the value is what has a name.
func (m Meaning) IsValue() bool { return m.part == oneValue && !m.Keyed && m.lists == 0 }

// IsCollection reports whether the value is a variable, or a list of what has names.
func (m Meaning) IsCollection() bool { return m.part == oneValue && (m.Keyed || m.lists > 0) }

// OfObjects reports whether the value is of the objects in the record.
func (m Meaning) OfObjects() bool { return m.Of == "objects" || m.Of == "history" }

// sentPods is in place of a variable for the field of what a Pods API sends that has pods
// by name.
const sentPods = "pods of an answer"

// listsOfContainers are the fields of pods that have something of each container.
var listsOfContainers = []string{"containers", "initContainers", "containerStatuses", "initContainerStatuses"}

// Scope is what the names in a part of an expression mean.
type Scope map[string]Meaning

// Seeing is the scope of an expression that sees as it what another one is; nothing if
// that is empty.
func Seeing(it string) Scope {
	s := Scope{}
	if observed, is := Parse(it); is {
		s["it"] = Scope{}.Of(observed)
	}
	return s
}

// with is the scope with one name more.
func (s Scope) with(name string, m Meaning) Scope {
	inner := Scope{}
	maps.Copy(inner, s)
	inner[name] = m
	return inner
}

// Of returns what the value of an expression is.
func (s Scope) Of(e ast.Expr) Meaning {
	if in, field, is := FieldOf(e); is && slices.Contains(listsOfContainers, field) && !s.Of(in).Keyed {
		return Meaning{part: oneContainer, lists: 1}
	}
	if in, field, is := FieldOf(e); is && field == "pods" && !s.Of(in).Keyed {
		return Meaning{part: oneValue, Of: sentPods, Keyed: true}
	}
	switch e.Kind() {
	case ast.IdentKind:
		name := e.AsIdent()
		if m, is := s[name]; is {
			return m
		}
		if v, is := VariableOf(name); is {
			return Meaning{part: oneValue, Of: name, Keyed: true, lists: v.lists()}
		}
	case ast.SelectKind:
		if m := s.Of(e.AsSelect().Operand()); m.Keyed && !e.AsSelect().IsTestOnly() {
			return m.at()
		}
	case ast.ListKind:
		return s.listOf(e.AsList().Elements())
	case ast.CallKind:
		return s.ofCall(e.AsCall())
	}
	return Meaning{}
}

// ofCall returns what the value of a call is.
func (s Scope) ofCall(call ast.CallExpr) Meaning {
	args := call.Args()
	switch call.FunctionName() {
	case operators.Index, operators.OptIndex:
		return s.Of(args[0]).at()
	case "first", "last":
		return s.Of(call.Target()).at()
	case operators.Conditional:
		return s.either(args[1:])
	case operators.Add:
		return s.either(args)
	case "filter":
		inner, of, _ := s.Through(call)
		return inner.listOf(of[:1])
	case "map":
		inner, of, _ := s.Through(call)
		return inner.listOf(of[len(of)-1:])
	case "value", "orValue", "distinct", "reverse", "slice", "sort", "sortBy":
		return s.Of(call.Target())
	case "flatten":
		if m := s.Of(call.Target()); m.lists > 1 {
			return Meaning{part: m.part, Of: m.Of, lists: 1}
		}
	}
	return Meaning{}
}

// Through returns what the parts of a call mean that goes through a list or a map, such
// as exists, and those parts: the variable, and what is evaluated for each.
func (s Scope) Through(call ast.CallExpr) (inner Scope, parts []ast.Expr, is bool) {
	parts = call.Args()
	if !slices.Contains(macros, call.FunctionName()) {
		return nil, nil, false
	}
	return s.with(parts[0].AsIdent(), s.Of(call.Target()).each()), parts, true
}

// listOf is what a list of expressions is.
func (s Scope) listOf(elements []ast.Expr) Meaning {
	m := s.either(elements)
	if m.part == neither || m.Keyed {
		return Meaning{}
	}
	m.lists++
	return m
}

// either is what one of the expressions is.
func (s Scope) either(all []ast.Expr) Meaning {
	for _, e := range all {
		if m := s.Of(e); m.part != neither {
			return m
		}
	}
	return Meaning{}
}

// each is what goes through a value.
func (m Meaning) each() Meaning {
	switch {
	case m.Keyed:
		return Meaning{part: oneKey, Of: m.Of}
	case m.lists > 0:
		return Meaning{part: m.part, Of: m.Of, lists: m.lists - 1}
	}
	return Meaning{}
}

// at is what a value has at a key or an index.
func (m Meaning) at() Meaning {
	switch {
	case m.Keyed:
		return Meaning{part: m.part, Of: m.Of, lists: m.lists}
	case m.lists > 0:
		return Meaning{part: m.part, Of: m.Of, lists: m.lists - 1}
	}
	return Meaning{}
}

// Reference is a constant of an expression that names something of a variable.
type Reference struct {
	Of   string // the variable
	How  How
	Text string
	ID   int64 // of the expression
}

// How is how an expression names something.
type How int

// The ways to name something.
const (
	ByKey       How = iota // by its key
	ByBeginning            // by how keys begin
	ByKind                 // by the kind of an object
	ByContainer            // by the name of a container, in a pod
)

// References calls found for all constants of an expression that name something.
func (s Scope) References(e ast.Expr, found func(Reference)) {
	s.Walk(e, func(s Scope, e ast.Expr) {
		switch e.Kind() {
		case ast.SelectKind:
			if m := s.Of(e.AsSelect().Operand()); m.Keyed {
				found(Reference{m.Of, ByKey, e.AsSelect().FieldName(), e.ID()})
			}
		case ast.CallKind:
			s.compared(e.AsCall(), found)
		}
	})
}

// Walk calls look for all parts of an expression, with what names mean there.
func (s Scope) Walk(e ast.Expr, look func(Scope, ast.Expr)) {
	Walk(s, e, func(s Scope, macro ast.CallExpr) []Scope {
		inner, _, _ := s.Through(macro)
		return []Scope{inner}
	}, look)
}

// compared calls found for the constants with which a call compares keys or kinds.
func (s Scope) compared(call ast.CallExpr, found func(Reference)) {
	args := call.Args()
	switch call.FunctionName() {
	case "startsWith":
		if call.IsMemberFunction() {
			if m := s.Of(call.Target()); m.isKey() {
				constants(args, m.Of, ByBeginning, found)
			}
		}
	case operators.Index, operators.OptIndex, operators.OptSelect:
		if m := s.Of(args[0]); m.Keyed {
			constants(args[1:], m.Of, ByKey, found)
		}
	case operators.In:
		if m := s.Of(args[1]); m.Keyed {
			constants(args[:1], m.Of, ByKey, found)
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
func (s Scope) equal(e ast.Expr, to []ast.Expr, found func(Reference)) {
	if m := s.Of(e); m.isKey() {
		constants(to, m.Of, ByKey, found)
	} else if s.isKind(e) {
		constants(to, "objects", ByKind, found)
	} else if in, field, is := FieldOf(e); is && field == "name" && s.Of(in) == (Meaning{part: oneContainer}) {
		constants(to, "containers", ByContainer, found)
	}
}

// isKind reports whether an expression is the kind of an object, and not that of
// something within one, such as an owner.
func (s Scope) isKind(e ast.Expr) bool {
	if in, field, is := FieldOf(e); is {
		return field == "kind" && s.Of(in).IsValue() && s.Of(in).OfObjects()
	}
	if e.Kind() == ast.CallKind && slices.Contains([]string{"value", "orValue"}, e.AsCall().FunctionName()) {
		return s.isKind(e.AsCall().Target())
	}
	return false
}

// OfComponent is the field of a component that an expression is, or empty.
func (s Scope) OfComponent(e ast.Expr) string {
	if in, field, is := FieldOf(e); is && s.Of(in).IsValue() && s.Of(in).Of == "components" {
		return field
	}
	return ""
}

// FieldOf is the field that an expression is, and of what.
func FieldOf(e ast.Expr) (of ast.Expr, field string, is bool) {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().Operand(), e.AsSelect().FieldName(), true
	case ast.CallKind:
		switch args := e.AsCall().Args(); e.AsCall().FunctionName() {
		case operators.OptSelect, operators.Index, operators.OptIndex:
			field, is = TextOf(args[1])
			return args[0], field, is
		}
	}
	return nil, "", false
}

// constants calls found for those of the expressions that are texts.
func constants(all []ast.Expr, of string, as How, found func(Reference)) {
	for _, e := range all {
		if text, is := TextOf(e); is {
			found(Reference{of, as, text, e.ID()})
		}
	}
}

// TextOf is the text that an expression is.
func TextOf(e ast.Expr) (text string, is bool) {
	if e.Kind() == ast.LiteralKind {
		text, is = e.AsLiteral().Value().(string)
	}
	return text, is
}

// Sized is the list of which an expression is the size.
func Sized(e ast.Expr) (list ast.Expr, is bool) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "size" {
		return nil, false
	}
	call := e.AsCall()
	if call.IsMemberFunction() {
		return call.Target(), true
	}
	return call.Args()[0], true
}

// SeedPrefix begins the names of what is on the seed.
const SeedPrefix = "seed/"

// ResourceOf is the resource of an object's key, with that of the seed.
func ResourceOf(key string) string {
	rest, is := strings.CutPrefix(key, SeedPrefix)
	resource, _, _ := strings.Cut(rest, "/")
	if is {
		return SeedPrefix + resource
	}
	return resource
}
