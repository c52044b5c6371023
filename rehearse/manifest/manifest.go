// Package manifest reads Kubernetes objects that others wrote: manifests, Lists, what helm, kustomize, kubectl and Velero
// print. It says of each object where it was read.
package manifest

import "fmt"

// Place is where a document was read.
type Place struct {
	// File is the name of the file. Standard input is "-".
	File string `json:"file,omitempty"`
	// Line is the line with which the object begins, counted from 1. That of a problem may be a line within the object.
	Line int `json:"line,omitempty"`
	// Document is its number in the file, counted from 1.
	Document int `json:"document,omitempty"`
	// Template is the file of a chart that the document is from, by the comment "# Source:" of helm. If unset, there is none.
	Template string `json:"template,omitempty"`
}

// String is "deploy/web.yaml:12", without a line if that is not known, and with the template of a chart if it is known: "-:12 (shop/templates/web.yaml)".
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	if p.Template != "" {
		return fmt.Sprintf("%s:%d (%s)", p.File, p.Line, p.Template)
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Object is an object that was read.
type Object struct {
	Place

	// Hook says when helm runs it. If unset, it is no hook.
	Hook Hook
	// Object has the fields as JSON has them, without what a server sets.
	Object map[string]any
}

// Hook says when helm runs an object, by its annotations.
type Hook struct {
	// Events are those of helm.sh/hook: pre-install, post-upgrade. If unset, the object is no hook.
	Events []string
	// Weight is helm.sh/hook-weight: the least first.
	Weight int
}

// Problem is a document that is left out, with the reason.
type Problem struct {
	Place

	// Object is "Deployment web", if that is known.
	Object string `json:"object,omitempty"`
	// Why is the reason, in one line.
	Why string `json:"why"`
	// Harmless is true if no object is missing for it: a file for another program, or an object that is there twice.
	Harmless bool `json:"harmless,omitempty"`
}

var _ error = Problem{}

func (p Problem) Error() string {
	if p.Object == "" {
		return fmt.Sprintf("%s: %s", p.Place, p.Why)
	}
	return fmt.Sprintf("%s: %s: %s", p.Place, p.Object, p.Why)
}
