package check

import (
	"path"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/skewrig/skewrig/reports"
)

// NamesIn returns what the checks of a result name, by the check's id. A result has the
// expressions that it was judged by, whatever became of the scenario.
func NamesIn(result reports.Cell) map[string]reports.Names {
	all := make(map[string]reports.Names)
	for _, c := range result.Checks {
		e, _ := c.Expectation()
		switch e.Relation {
		case reports.Satisfies:
			all[c.ID] = append(scope{}.names(e.Observe), seeing(e.Observe).names(e.Wanted)...)
		case reports.Equals:
			all[c.ID] = scope{}.names(e.Observe + " == " + e.Wanted)
		default:
			all[c.ID] = scope{}.names(e.Observe)
		}
	}
	return all
}

// names are those in an expression, and the other texts in it.
func (s scope) names(text string) (all reports.Names) {
	e, is := parse(text)
	if !is {
		return nil
	}
	known := make(map[int64]bool)
	s.visit(e, func(n named) {
		known[n.id] = true
		all = append(all, n.told())
	})
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if text, is := textOf(e); is && !known[e.ID()] {
			all = append(all, reports.Named{Text: text})
		}
	}))
	return all
}

// told is a name with the object that it is of.
func (n named) told() reports.Named {
	told := reports.Named{Variable: n.of, Text: n.text}
	v, _ := variableOf(n.of)
	switch {
	case n.how == aName:
		told.Container = n.text
	case n.how == aBeginning && v.noun == "container" && strings.HasSuffix(n.text, "/"): // of those of a pod
		told.Object = reports.PodKey(strings.TrimSuffix(n.text, "/"))
	case n.how != aKey:
	case v.noun == "pod", n.of == sentPods:
		told.Object = reports.PodKey(n.text)
	case v.noun == "container":
		pod, container := path.Split(n.text)
		told.Object, told.Container = reports.PodKey(strings.TrimSuffix(pod, "/")), container
	case v.noun == "object":
		told.Object = n.text
	case v.noun == "node":
		told.Object = "nodes/" + n.text
	case v.noun == "component", n.of == "metrics":
		if node, is := strings.CutPrefix(n.text, "kubelet/"); is {
			told.Object = "nodes/" + node
		}
	}
	return told
}
