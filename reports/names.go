package reports

import (
	"path"
	"slices"
	"strings"
)

// Named is what an expression of a check names.
type Named struct {
	// Variable is the variable of expressions that has it by name: pods, requests. If
	// unset, Text is a text of which the expression does not say what it is.
	Variable string
	// Text is the name, as the expression has it.
	Text string
	// Object is the key of the object that it is, or that it is of: pods/default/web. If
	// unset, it is of none.
	Object string
	// Container is the name of a container, of Object if that is set. If unset, none is
	// named.
	Container string
}

// Names are what the expressions of a check name.
type Names []Named

// PodKey is the key of a pod by its name in expressions, which leave out the namespace if
// it is the default one.
func PodKey(name string) string {
	if strings.Contains(name, "/") {
		return "pods/" + name
	}
	return "pods/default/" + name
}

// Known reports whether anything is named of which it is known what it is.
func (n Names) Known() bool {
	return slices.ContainsFunc(n, func(one Named) bool { return one.Variable != "" })
}

// Of are the names of what some variables have.
func (n Names) Of(variables ...string) (texts []string) {
	for _, one := range n {
		if slices.Contains(variables, one.Variable) {
			texts = append(texts, one.Text)
		}
	}
	return texts
}

// HasObject reports whether an object is named, by its key.
func (n Names) HasObject(key string) bool {
	return slices.ContainsFunc(n, func(one Named) bool { return one.Object == key })
}

// HasPodOf reports whether the pod of a container is named: namespace/pod/container.
func (n Names) HasPodOf(container string) bool { return n.HasObject("pods/" + path.Dir(container)) }

// Containers are the names that are those of containers, or may be.
func (n Names) Containers() (names []string) {
	for _, one := range n {
		switch {
		case one.Container != "":
			names = append(names, one.Container)
		case one.Variable == "":
			names = append(names, one.Text)
		}
	}
	return names
}

// InLogs are the names of objects, as logs have them.
func (n Names) InLogs() (names []string) {
	for _, one := range n {
		switch {
		case one.Object != "":
			names = append(names, path.Base(one.Object))
		case one.Variable == "dependents":
			names = append(names, one.Text)
		}
	}
	return names
}
