package expr

import (
	"slices"

	"github.com/google/cel-go/common/ast"

	"github.com/skewrig/skewrig/scenarios/plan"
)

// Reading is what an expression of a cell reads of the record.
type Reading struct {
	// What is what has the expression: "check wire", "wait until".
	What string
	// Step is the number of its step.
	Step int
	// Variables are the names of those that it reads, sorted. That which sees what was observed
	// as it reads what that does.
	Variables []string
	// Fields are the names of all fields that it reads, of whatever they are, sorted.
	Fields []string
	// Keys are the keys of objects that it names: "pods/default/web".
	Keys []string
	// Components are the names of components that it looks for: "kubelet/node-a".
	Components []string
}

// Readings are what the expressions of a cell read, in their order.
func Readings(cell plan.Cell) (all []Reading) {
	Each(cell, func(step int, w Written, it string) {
		r := Reading{What: w.what, Step: cell.Steps[step].Number}
		if observed, is := Parse(it); is {
			r.read(Scope{}, observed, false)
		}
		if e, is := Parse(w.Text); is {
			r.read(Seeing(it), e, true)
		}
		for _, list := range []*[]string{&r.Variables, &r.Fields, &r.Keys, &r.Components} {
			slices.Sort(*list)
			*list = slices.Compact(*list)
		}
		all = append(all, r)
	})
	return all
}

// read takes an expression into account: its variables and, if it is whole, all that it names.
func (r *Reading) read(s Scope, e ast.Expr, whole bool) {
	s.Walk(e, func(s Scope, e ast.Expr) {
		if e.Kind() == ast.IdentKind {
			_, bound := s[e.AsIdent()]
			if v, is := VariableOf(e.AsIdent()); is && !bound {
				r.Variables = append(r.Variables, v.Name)
			}
		}
		if _, field, is := FieldOf(e); is && whole {
			r.Fields = append(r.Fields, field)
		}
	})
	if !whole {
		return
	}
	s.References(e, func(n Reference) {
		if (n.Of == "objects" || n.Of == "history") && (n.How == ByKey || n.How == ByBeginning) {
			r.Keys = append(r.Keys, n.Text)
		}
		if n.Of == "components" && n.How == ByKey {
			r.Components = append(r.Components, n.Text)
		}
	})
}
