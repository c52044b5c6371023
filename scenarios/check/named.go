package check

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// meaning is what a value of an expression is, if it is of the objects in the record: a
// key of one, an object, or a list or map of them.
type meaning struct {
	part  part
	keyed bool // a map: its keys are those of objects
	lists int  // how many lists are around it, within the map
}

type part int

const (
	neither part = iota
	oneKey
	oneObject
)

// scope is what the names in a part of an expression mean.
type scope map[string]meaning

// with is the scope with one name more.
func (s scope) with(name string, m meaning) scope {
	inner := scope{}
	maps.Copy(inner, s)
	inner[name] = m
	return inner
}

// of returns what the value of an expression is.
func (s scope) of(e ast.Expr) meaning {
	switch e.Kind() {
	case ast.IdentKind:
		m, is := s[e.AsIdent()]
		switch {
		case is:
			return m
		case e.AsIdent() == "objects":
			return meaning{part: oneObject, keyed: true}
		case e.AsIdent() == "history":
			return meaning{part: oneObject, keyed: true, lists: 1}
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
		if inner, of, is := s.through(call); is {
			return inner.listOf(of[:1])
		}
	case "map":
		if inner, of, is := s.through(call); is {
			return inner.listOf(of[len(of)-1:])
		}
	case "value", "orValue", "distinct", "reverse", "slice", "sort", "sortBy":
		if call.IsMemberFunction() {
			return s.of(call.Target())
		}
	case "flatten":
		if m := s.of(call.Target()); call.IsMemberFunction() && m.lists > 1 {
			return meaning{part: m.part, lists: 1}
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
		is = call.IsMemberFunction() && len(parts) > 1 && parts[0].Kind() == ast.IdentKind
	}
	if !is {
		return nil, nil, false
	}
	return s.with(parts[0].AsIdent(), s.of(call.Target()).each()), parts, true
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
		return meaning{part: oneKey}
	case m.lists > 0:
		return meaning{part: m.part, lists: m.lists - 1}
	}
	return meaning{}
}

// at is what a value has at a key or an index.
func (m meaning) at() meaning {
	switch {
	case m.keyed:
		return meaning{part: m.part, lists: m.lists}
	case m.lists > 0:
		return meaning{part: m.part, lists: m.lists - 1}
	}
	return meaning{}
}

// named is how an expression names objects.
type named int

const (
	aKey       named = iota // by its key
	aBeginning              // by how keys begin
	aKind                   // by their kind
)

// visit calls found for all constants of an expression that name objects in the record.
func (s scope) visit(e ast.Expr, found func(named, string)) {
	switch e.Kind() {
	case ast.ListKind:
		for _, e := range e.AsList().Elements() {
			s.visit(e, found)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			s.visit(entry.AsMapEntry().Key(), found)
			s.visit(entry.AsMapEntry().Value(), found)
		}
	case ast.SelectKind:
		s.visit(e.AsSelect().Operand(), found)
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			s.visit(call.Target(), found)
		}
		inner := s
		if through, _, is := s.through(call); is {
			inner = through
		}
		for _, arg := range call.Args() {
			inner.visit(arg, found)
		}
		s.compared(call, found)
	}
}

// compared calls found for the constants with which a call compares keys or kinds.
func (s scope) compared(call ast.CallExpr, found func(named, string)) {
	args := call.Args()
	switch call.FunctionName() {
	case "startsWith":
		if call.IsMemberFunction() && s.of(call.Target()) == (meaning{part: oneKey}) {
			constants(args, func(text string) { found(aBeginning, text) })
		}
	case operators.Index, operators.OptIndex:
		if s.of(args[0]).keyed {
			constants(args[1:], func(text string) { found(aKey, text) })
		}
	case operators.In:
		if s.of(args[1]).keyed {
			constants(args[:1], func(text string) { found(aKey, text) })
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
func (s scope) equal(e ast.Expr, to []ast.Expr, found func(named, string)) {
	switch {
	case s.of(e) == meaning{part: oneKey}:
		constants(to, func(text string) { found(aKey, text) })
	case s.isKind(e):
		constants(to, func(text string) { found(aKind, text) })
	}
}

// isKind reports whether an expression is the kind of an object, and not that of
// something within one, such as an owner.
func (s scope) isKind(e ast.Expr) bool {
	of := func(e ast.Expr) bool { return s.of(e) == meaning{part: oneObject} }
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().FieldName() == "kind" && !e.AsSelect().IsTestOnly() && of(e.AsSelect().Operand())
	case ast.CallKind:
		call := e.AsCall()
		switch args := call.Args(); call.FunctionName() {
		case operators.OptSelect, operators.Index, operators.OptIndex:
			return of(args[0]) && slices.Equal(texts(args[1:]), []string{"kind"})
		case "value", "orValue":
			return call.IsMemberFunction() && s.isKind(call.Target())
		}
	}
	return false
}

// constants calls found for those of the expressions that are texts.
func constants(all []ast.Expr, found func(string)) {
	for _, text := range texts(all) {
		found(text)
	}
}

// texts are those of the expressions that are texts.
func texts(all []ast.Expr) (found []string) {
	for _, e := range all {
		if e.Kind() != ast.LiteralKind {
			continue
		}
		if text, is := e.AsLiteral().Value().(string); is {
			found = append(found, text)
		}
	}
	return found
}
