package expr

import (
	"path"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/skewrig/skewrig/reports"
)

// Names are those in an expression, and the other texts in it.
func (s Scope) Names(text string) (all reports.Names) {
	e, is := Parse(text)
	if !is {
		return nil
	}
	known := make(map[int64]bool)
	s.References(e, func(n Reference) {
		known[n.ID] = true
		all = append(all, n.named())
	})
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if text, is := TextOf(e); is && !known[e.ID()] {
			all = append(all, reports.Named{Text: text})
		}
	}))
	return all
}

// named is a name with the object that it is of.
func (n Reference) named() reports.Named {
	name := reports.Named{Variable: n.Of, Text: n.Text}
	v, _ := VariableOf(n.Of)
	switch {
	case n.How == ByContainer:
		name.Container = n.Text
	case n.How == ByBeginning && v.Noun == "container" && strings.HasSuffix(n.Text, "/"): // of those of a pod
		name.Object = reports.PodKey(strings.TrimSuffix(n.Text, "/"))
	case n.How != ByKey:
	case v.Noun == "pod", n.Of == sentPods:
		name.Object = reports.PodKey(n.Text)
	case v.Noun == "container":
		pod, container := path.Split(n.Text)
		name.Object, name.Container = reports.PodKey(strings.TrimSuffix(pod, "/")), container
	case v.Noun == "object":
		name.Object = n.Text
	case v.Noun == "node":
		name.Object = "nodes/" + n.Text
	case v.Noun == "component", n.Of == "metrics":
		if node, is := strings.CutPrefix(n.Text, "kubelet/"); is {
			name.Object = "nodes/" + node
		}
	}
	return name
}
