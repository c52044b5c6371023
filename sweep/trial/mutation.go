package trial

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/law"
)

// Mutation is what is done to an object after the change.
type Mutation string

// The mutations.
const (
	Nothing   Mutation = "nothing"
	Label     Mutation = "label"
	Apply     Mutation = "apply"      // the label, by server-side apply
	Put       Mutation = "put"        // the label, by a client that writes back what it read
	OldClient Mutation = "old-client" // the same by a client that does not know the field, and loses it
	Status    Mutation = "status"     // a condition, as another controller sets one
	Template  Mutation = "template"   // as kubectl rollout restart does
	Scale     Mutation = "scale"
	Delete    Mutation = "delete"
	Create    Mutation = "create" // it is made after the change, and not before
	Bare      Mutation = "bare"   // the same, without the field
)

// kindOfMutation is a row of the table below: a mutation is one request, which sweeps, scenarios and drafts of issues send as it is.
type kindOfMutation struct {
	Mutation

	words string // what was done to an object
	rank  int    // among the mutations, from the simplest one on
	// lasts is true if the object is there afterwards, and may be mutated again, and ofFields if it is about the fields that
	// gates guard.
	lasts, ofFields bool
	// fits reports whether it can be done to an object. If unset, it can to each.
	fits func(Use) bool
	// request is what an API server is asked for. If unset, nothing is.
	request func(Item) law.Request
}

// kindsOfMutations are all, in the order in which objects are made for them.
var kindsOfMutations = []kindOfMutation{
	{Mutation: Label, words: "labeled", rank: 1, lasts: true, request: func(Item) law.Request { return law.Request{Verb: law.Patches, Body: labels()} }},
	{Mutation: Apply, words: "labeled by server-side apply", rank: 2, lasts: true, request: func(i Item) law.Request { return law.Request{Verb: law.Applies, Body: i.labeled()} }},
	{Mutation: Put, words: "read and written back", rank: 3, lasts: true, request: func(Item) law.Request { return law.Request{Verb: law.Puts, Body: labels()} }},
	{
		Mutation: OldClient, words: "written back by a client without the field", rank: 10, lasts: true, ofFields: true,
		request: func(i Item) law.Request { return law.Request{Verb: law.Puts, Body: labels(), Without: i.paths()} },
	},
	{
		Mutation: Status, words: "status written", rank: 4, lasts: true, fits: func(u Use) bool { return u.Conditions },
		request: func(Item) law.Request {
			return law.Request{Verb: law.Patches, Body: condition(), Subresource: "status"}
		},
	},
	{
		Mutation: Template, words: "pod template changed", rank: 6, lasts: true,
		fits:    func(u Use) bool { return kube.ByName(u.Kind).HasPods() && u.Kind != "Job" }, // whose template can't be changed
		request: func(i Item) law.Request { return law.Request{Verb: law.Patches, Body: i.annotatedTemplate()} },
	},
	{
		Mutation: Scale, words: "scaled", rank: 5, lasts: true, fits: func(u Use) bool { return kube.ByName(u.Kind).IsScalable() },
		request: func(Item) law.Request {
			return law.Request{Verb: law.Patches, Body: map[string]any{"spec": map[string]any{"replicas": int64(2)}}}
		},
	},
	{Mutation: Nothing, words: "not touched"},
	{Mutation: Delete, words: "deleted", rank: 7, request: func(Item) law.Request { return law.Request{Verb: law.Deletes} }},
	{Mutation: Create, words: "created", rank: 8, fits: sure, request: func(i Item) law.Request { return law.Request{Verb: law.Creates, Body: i.Object} }},
	{
		Mutation: Bare, words: "created without the field", rank: 9, ofFields: true, fits: sure,
		request: func(i Item) law.Request {
			r := law.Request{Verb: law.Creates, Without: i.paths()}
			r.Body = r.Written(i.Object)
			return r
		},
	},
}

// sure reports whether it is sure that a gate guards a field: by a comment, it may be a value that it guards, or a use.
func sure(u Use) bool { return !u.ByComment }

// kind is what is known of a mutation: of one that only another skewrig knows, nothing.
func (t Mutation) kind() kindOfMutation {
	n := slices.IndexFunc(kindsOfMutations, func(k kindOfMutation) bool { return k.Mutation == t })
	if n < 0 {
		return kindOfMutation{Mutation: t}
	}
	return kindsOfMutations[n]
}

// can reports whether a mutation can be done to an object.
func (k kindOfMutation) can(u Use) bool {
	return (k.fits == nil || k.fits(u)) && (!k.ofFields || !u.IsControl())
}

// mutationsOf returns those that can be done to an object and that are as asked for.
func mutationsOf(u Use, are func(kindOfMutation) bool) (all []Mutation) {
	for _, k := range kindsOfMutations {
		if k.can(u) && are(k) {
			all = append(all, k.Mutation)
		}
	}
	return all
}

// Manager is the field manager of what is applied.
const Manager = "sweep"

// Request is what a mutation of the item asks for.
func (i Item) Request(t Mutation) law.Request {
	if request := t.kind().request; request != nil {
		return request(i)
	}
	return law.Request{}
}

// Requests are those of all mutations of the item that ask for something.
func (i Item) Requests() (all []law.Request) {
	for _, t := range i.Mutations {
		if r := i.Request(t); r.Verb != law.Asks {
			all = append(all, r)
		}
	}
	return all
}

// byRank are all mutations, the simplest first.
func byRank() (all []Mutation) {
	for _, k := range slices.SortedFunc(slices.Values(kindsOfMutations), func(a, b kindOfMutation) int { return cmp.Compare(a.rank, b.rank) }) {
		all = append(all, k.Mutation)
	}
	return all
}

// String says what was done to an object.
func (t Mutation) String() string { return t.kind().words }

// Mutations are done to an object one after the other.
type Mutations []Mutation

// String says what was done to an object.
func (t Mutations) String() string {
	var words []string
	for _, mutation := range t {
		words = append(words, mutation.String())
	}
	return strings.Join(words, ", ")
}

// Has reports whether a mutation is one of them.
func (t Mutations) Has(mutation Mutation) bool { return slices.Contains(t, mutation) }

// Name is short, for names of files.
func (t Mutations) Name() string {
	var names []string
	for _, mutation := range t {
		names = append(names, string(mutation))
	}
	return strings.Join(names, "-")
}

// labels is a JSON merge patch that sets a label.
func labels() map[string]any {
	return map[string]any{"metadata": map[string]any{"labels": map[string]any{mark: "yes"}}}
}

// labeled is what a field manager wants of the object that sets a label.
func (i Item) labeled() map[string]any {
	return map[string]any{
		"apiVersion": i.APIVersion, "kind": i.Kind,
		"metadata": map[string]any{"name": i.Name, "labels": map[string]any{mark: "yes"}},
	}
}

// condition is a JSON merge patch of a status.
func condition() map[string]any {
	c := map[string]any{"type": mark, "status": "True", "reason": "Touched", "message": "touched", "lastTransitionTime": "2026-01-01T00:00:00Z"}
	return map[string]any{"status": map[string]any{"conditions": []any{c}}}
}

// annotatedTemplate is a JSON merge patch that changes the template of pods.
func (i Item) annotatedTemplate() map[string]any {
	patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{mark: "yes"}}}
	for _, name := range slices.Backward(kube.PodTemplate(i.Object)) {
		patch = map[string]any{name: patch}
	}
	return patch
}

// paths are where the object has the fields that gates guard.
func (i Item) paths() (all []string) {
	for _, f := range i.Fields() {
		all = append(all, f.Path)
	}
	return all
}

// mark is the label, the annotation or the condition of what was mutated.
const mark = "sweep.skewrig.dev/touched"
