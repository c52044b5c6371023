package lint

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/law/rest"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// ofGarden are those that a seed has beside them.
var ofGarden = []string{"Cluster", "Machine"}

// Needs returns the topology of a cell with what its expressions need: the resources that
// they name are observed, and components may end by themselves if they ask whether they
// run, or how they ended. A resource or a kind that is not known is an error with its
// place: nothing of it would ever be in the record.
func Needs(cell plan.Cell) (record.Topology, error) {
	t := cell.Topology
	t.Observed, t.MayEnd = nil, nil
	n := needs{cell: cell, kinds: recordable(cell), topology: &t}
	for _, resource := range n.kinds {
		n.known = append(n.known, resource)
	}
	slices.Sort(n.known)
	expr.Each(cell, func(_ int, e expr.Written, it string) { n.read(e, it) })
	if slices.ContainsFunc(cell.Steps, func(s plan.Step) bool { return s.Action.Facts().Rests }) {
		for _, resource := range rest.Resources {
			n.watch(resource)
		}
	}
	slices.Sort(t.Observed)
	slices.Sort(t.MayEnd)
	return t, errors.Join(n.unknown...)
}

// needs are what the expressions of a cell need.
type needs struct {
	cell     plan.Cell
	kinds    map[string]string // the resources that a cell may have objects of, by kind
	known    []string          // the same resources, in order
	topology *record.Topology
	unknown  []error
}

// read takes an expression into account, and what it sees as it.
func (n *needs) read(w expr.Written, it string) {
	e, is := expr.Parse(w.Text)
	if !is {
		return
	}
	seen := expr.Seeing(it)
	var constants []string
	objects, ends := seen["it"].OfObjects(), false
	look := func(s expr.Scope, e ast.Expr) {
		switch e.Kind() {
		case ast.LiteralKind:
			if text, is := e.AsLiteral().Value().(string); is {
				constants = append(constants, text)
			}
		case ast.IdentKind:
			objects = objects || e.AsIdent() == "objects" || e.AsIdent() == "history"
		}
		field := s.OfComponent(e)
		ends = ends || field == "running" || field == "exits"
	}
	seen.Walk(e, look)
	if objects {
		n.observe(constants)
	}
	if ends {
		if observed, is := expr.Parse(it); is {
			expr.Scope{}.Walk(observed, look)
		}
		n.mayEnd(constants)
	}
	seen.References(e, func(name expr.Reference) {
		if name.Of != "objects" && name.Of != "history" {
			return
		}
		refuse := func(of, hint string) {
			n.unknown = append(n.unknown, w.Errorf(expr.Offset(w.Text, name.ID), "%q is %s whose objects are recorded%s", name.Text, of, hint))
		}
		switch name.How {
		case expr.ByKey:
			n.key(name.Text, refuse)
		case expr.ByBeginning:
			n.beginning(name.Text, refuse)
		case expr.ByKind:
			n.kind(name.Text, refuse)
		}
	})
}

// key refuses a key of a resource that is not known.
func (n *needs) key(key string, refuse func(of, hint string)) {
	if resource := expr.ResourceOf(key); !slices.Contains(n.known, resource) {
		refuse("of no resource", hintOf(resource, n.known))
	}
}

// beginning takes the beginning of keys into account. Less than the name of a resource
// stands for each that begins so.
func (n *needs) beginning(text string, refuse func(of, hint string)) {
	if text == "" || text == expr.SeedPrefix {
		return
	}
	if strings.Contains(strings.TrimPrefix(text, expr.SeedPrefix), "/") {
		n.key(text, refuse)
		return
	}
	found := false
	for _, resource := range n.known {
		if strings.HasPrefix(resource, text) {
			found = true
			n.watch(resource)
		}
	}
	if !found {
		refuse("of no resource", hintOf(text, n.known))
	}
}

// kind takes the kind of objects into account, those of the seed too.
func (n *needs) kind(kind string, refuse func(of, hint string)) {
	found := false
	for _, known := range []string{kind, expr.SeedPrefix + kind} {
		if resource, is := n.kinds[known]; is {
			found = true
			n.watch(resource)
		}
	}
	if found {
		return
	}
	var all []string
	for known := range n.kinds {
		all = append(all, strings.TrimPrefix(known, expr.SeedPrefix))
	}
	hint := hintOf(kind, all)
	if kind == "Event" {
		hint = hintOf("events", nil)
	}
	refuse("no kind", hint)
}

// hintOf is what may have been meant.
func hintOf(name string, known []string) string {
	if name == "events" {
		return ": events[\"pod\"] has those about a pod"
	}
	if near := spelling.Closest(name, known); len(near) > 0 {
		return ": did you mean " + near[0] + "?"
	}
	return "; a CustomResourceDefinition of the scenario makes one known"
}

// observe has the resources observed that constants name, as the beginning of a key or as
// a kind.
func (n *needs) observe(constants []string) {
	for _, text := range constants {
		resource, is := n.kinds[text]
		if !is {
			resource = expr.ResourceOf(text)
		}
		n.watch(resource)
	}
}

// watch has a resource observed that is known, and not observed anyway.
func (n *needs) watch(resource string) {
	if slices.Contains(n.known, resource) && !slices.Contains(n.topology.Observed, resource) && !slices.Contains(record.Observed, resource) {
		n.topology.Observed = append(n.topology.Observed, resource)
	}
}

// mayEnd has the components end that constants name, or all.
func (n *needs) mayEnd(constants []string) {
	var all, named []string
	for _, t := range n.cell.Components() {
		all = append(all, t)
		if slices.Contains(constants, t) {
			named = append(named, t)
		}
	}
	if len(named) == 0 {
		named = all
	}
	for _, name := range named {
		if !slices.Contains(n.topology.MayEnd, name) {
			n.topology.MayEnd = append(n.topology.MayEnd, name)
		}
	}
}

// recordable are the resources that a cell may have objects of, by kind: those of
// Kubernetes, and those that its steps define.
func recordable(cell plan.Cell) map[string]string {
	all := make(map[string]string)
	for _, kind := range kube.Kinds() {
		if kind.IsRecordable() {
			all[kind.Name] = kind.Resource
		}
	}
	if cell.Topology.Garden != nil {
		for _, kind := range slices.Concat(slices.Collect(maps.Keys(all)), ofGarden) {
			all[expr.SeedPrefix+kind] = expr.SeedPrefix + kube.Resource(kind)
		}
	}
	for _, step := range cell.Steps {
		for _, o := range step.Action.Facts().Creates {
			if kind, resource, is := kube.Definition(o); is {
				all[cmp.Or(kind, resource)] = resource
			}
		}
	}
	return all
}
