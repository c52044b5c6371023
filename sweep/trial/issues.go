package trial

import (
	_ "embed"
	"slices"
	"sync"

	"sigs.k8s.io/yaml"
)

// Issue is one of Kubernetes that is known, with what a sweep shows of it. What is unset may be anything.
type Issue struct {
	// Name is that of the issue: kubernetes#141961.
	Name string `json:"issue"`
	// What is the text of a finding about objects of a kind, with a field, that are mutated so.
	What     string   `json:"what"`
	Kind     string   `json:"kind,omitempty"`
	Field    string   `json:"field,omitempty"`
	Mutation Mutation `json:"touch,omitempty"`
}

//go:embed issues.yaml
var issuesFile []byte

// issues are those of the file, which a test reads.
var issues = sync.OnceValue(func() (all []Issue) {
	if err := yaml.UnmarshalStrict(issuesFile, &all); err != nil {
		panic(err) //nolint:forbidigo // the file is part of the program
	}
	return all
})

// Issues are the names of known issues that a finding shows, in the order of its items.
func (f Finding) Issues() (names []string) {
	for _, of := range f.Items {
		if name := issueOf(f, of); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// issueOf is the name of the known issue that something shows, or empty.
func issueOf(f Finding, of Found) string {
	for _, i := range issues() {
		if i.What == f.What && (i.Kind == "" || i.Kind == of.Kind) && (i.Mutation == "" || of.MutatedBy(i.Mutation) || f.Mutations.Has(i.Mutation)) && (i.Field == "" || slices.Contains(of.FieldNames(), i.Field)) {
			return i.Name
		}
	}
	return ""
}
