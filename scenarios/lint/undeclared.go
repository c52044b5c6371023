package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/expr"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Undeclared reports what expressions of cells name and no cell can have anything of: each
// with its place, and what may have been meant. It would never be seen, whatever a release
// does.
func Undeclared(cells []plan.Cell) error {
	var all []error
	for _, cell := range cells {
		all = append(all, misspelt(cell)...)
		d := declare(cell)
		expr.Each(cell, func(step int, e expr.Written, it string) {
			tree, is := expr.Parse(e.Text)
			if !is {
				return // Compile reports it
			}
			expr.Seeing(it).References(tree, func(n expr.Reference) {
				if why := d.refuse(cell, step, n); why != "" {
					all = append(all, e.Errorf(expr.Offset(e.Text, n.ID), "%s", why))
				}
			})
		})
	}
	return strict.Join(all...)
}

// MissingFields reports fields in expressions of cells that objects don't have: each with
// its place, and what may have been meant.
func MissingFields(cells []plan.Cell) error {
	var all []error
	for _, cell := range cells {
		if !hasNewestTypes(cell) {
			continue
		}
		expr.Each(cell, func(_ int, e expr.Written, it string) {
			all = append(all, e.MissingFields(it)...)
		})
	}
	return strict.Join(all...)
}

// misspelt are the kinds and resources of objects in the steps of a cell that are not
// known, and nearly one that is. Others may be of a release that is not known either.
func misspelt(cell plan.Cell) (all []error) {
	known := recordable(cell)
	kinds, resources := slices.Collect(maps.Keys(known)), slices.Collect(maps.Values(known))
	for _, kind := range kube.Kinds() {
		kinds = append(kinds, kind.Name)
	}
	resources = append(resources, kube.ByName(kube.Event).Resource)
	for _, uses := range []struct {
		of    []spec.Use
		known []string
		what  string
	}{{cell.Uses.Kinds, kinds, "kind"}, {cell.Uses.Resources, resources, "resource"}} {
		for _, use := range uses.of {
			near := spelling.Closest(use.Name, uses.known)
			if !slices.Contains(uses.known, use.Name) && len(near) > 0 {
				all = append(all, strict.Problemf(use.Position, "no release has a %s %s: did you mean %s?", uses.what, use.Name, near[0]))
			}
		}
	}
	return all
}

// refuse says why nothing can be of a name in a step, if that is known.
func (d mayHave) refuse(cell plan.Cell, step int, n expr.Reference) string {
	v, is := expr.VariableOf(n.Of)
	if !is {
		return ""
	}
	variable := n.Of
	if variable == "history" {
		variable = "objects"
	}
	fits := func(m mayBe) bool { return m.is(n.Text) }
	candidates := d[variable]
	if variable == "objects" {
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(m mayBe) bool { return expr.ResourceOf(m.begins) != expr.ResourceOf(n.Text) })
	}
	switch n.How {
	case expr.ByKind:
		return ""
	case expr.ByContainer:
		return misspeltContainer(n, candidates)
	case expr.ByBeginning:
		fits = func(m mayBe) bool { return m.canBegin(n.Text) }
	case expr.ByKey:
		if form := keyOf(expr.ResourceOf(n.Text)); variable == "objects" && form != "" && strings.Count(form, "/") != strings.Count(n.Text, "/") {
			return fmt.Sprintf("%q is no object of this scenario: a key is %s", n.Text, form)
		}
	}
	if !slices.ContainsFunc(candidates, fits) {
		if variable == "objects" && !made(n) && !slices.ContainsFunc(candidates, func(m mayBe) bool { return isNearly(n, m) }) {
			return ""
		}
		if variable == "metrics" && len(candidates) == 0 {
			return fmt.Sprintf("nothing scrapes %s: add a step scrape before this check", n.Text)
		}
		return fmt.Sprintf("%q is no %s of this scenario%s", n.Text, v.Noun, expr.Guess(n.Text, texts(candidates)))
	}
	if later := laterStep(cell, step, v, fits); later != nil {
		return fmt.Sprintf("%q is step %d, which comes later", n.Text, later.Number)
	}
	return ""
}

// made reports whether only a scenario and what it runs make objects of the resource that
// a key is of. There are others that every cluster has, or that controllers name.
func made(n expr.Reference) bool {
	resource, rest, _ := strings.Cut(n.Text, "/")
	if n.How == expr.ByBeginning && (rest == "" || strings.HasSuffix(rest, "/")) {
		return false
	}
	kind := kube.ByResource(resource)
	return kind.Name == "Pod" || kind.Name == "Node" || kind.HasPods() || kind.Authored
}

// isNearly reports whether a key is a slip of the pen for a name: in the same namespace,
// and no name that every cluster has.
func isNearly(n expr.Reference, m mayBe) bool {
	at, its := strings.LastIndexByte(n.Text, '/'), strings.LastIndexByte(m.begins, '/')
	if n.How != expr.ByKey || m.open || n.Text[:at+1] != m.begins[:its+1] {
		return false
	}
	name := n.Text[at+1:]
	return name != "default" && !strings.HasPrefix(name, "kube-") && len(spelling.Closest(name, []string{m.begins[its+1:]})) > 0
}

// misspeltContainer refuses a name that nearly a container has.
func misspeltContainer(n expr.Reference, containers []mayBe) string {
	var names []string
	for _, c := range containers {
		text := c.String()
		names = append(names, text[strings.LastIndexByte(text, '/')+1:])
	}
	near := spelling.Closest(n.Text, names)
	if len(near) == 0 || slices.Contains(names, n.Text) {
		return ""
	}
	return fmt.Sprintf("%q is no container of this scenario: did you mean %s?", n.Text, near[0])
}

// keyOf is how the keys of a resource of Kubernetes look; empty if that is not known.
func keyOf(resource string) string {
	switch {
	case !kube.ByResource(resource).IsRecordable():
		return ""
	case kube.ClusterScoped(resource):
		return resource + "/NAME"
	default:
		return resource + "/NAMESPACE/NAME"
	}
}

// laterStep is the step that has what is named, if no step before does. It is nil if one
// does, and for variables that have nothing of steps.
func laterStep(cell plan.Cell, at int, v expr.Variable, fits func(mayBe) bool) *plan.Step {
	for i, step := range cell.Steps {
		gives := slices.ContainsFunc(step.Action.Facts().Gives, func(r action.Reading) bool {
			return r.Variable == v.Name && fits(exactly(cmp.Or(r.Name, step.Name)))
		})
		switch {
		case !gives:
		case i <= at:
			return nil
		default:
			return &step
		}
	}
	return nil
}

// texts are the names as messages have them, each once.
func texts(names []mayBe) (all []string) {
	for _, n := range names {
		if text := n.String(); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// hasNewestTypes reports whether the objects of a cell are those of the newest release,
// whatever API server runs.
func hasNewestTypes(cell plan.Cell) bool {
	newest := release.Newest.MajorMinor()
	for _, c := range cell.Runs() {
		if record.Program(c.Name) == record.APIServer && (c.Version.IsSource() || c.Version.MajorMinor() != newest) {
			return false
		}
	}
	return true
}
