package spec

import (
	"errors"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/strict"
)

// Action is what a step does, as it is written. Package action has all of them.
type Action interface {
	// Check reports what is wrong with the action by itself.
	Check(Field)
}

// Shorthand is a way to write an action.
type Shorthand interface {
	// Action returns the action that it stands for.
	Action() Action
}

// Changer is an action that changes a rig, or that not every rig can do.
type Changer interface {
	// Change does to a rig what the action does. It reports to the rig why a real
	// one could not.
	Change(*Rig)
}

// Creator is an action that creates objects.
type Creator interface {
	// Manifests returns the objects, nil if they are not known.
	Manifests() Objects
}

// Loader is an action that needs a file beside the scenario.
type Loader interface {
	// Load returns the action with what it read.
	Load(read func(name string) (Objects, error)) (Action, error)
}

// ActionKind is a kind of action.
type ActionKind struct {
	// Name is the field of a step.
	Name string
	// Type is what the field is decoded into.
	Type reflect.Type
	// Changes is true if the action changes what runs, which can't be done after a
	// failure.
	Changes bool
	// Request is true if the API server may be expected to refuse what is asked.
	Request bool
	// Unknown is true if its objects may have fields that the newest release does not know.
	Unknown bool
	// Asks is true if an API server is asked for something, which a step can choose.
	Asks bool
	// Verdict is true if the action has a part in the verdict, which a catch step
	// has not.
	Verdict bool
	// Fields are those that name something of Kubernetes.
	Fields Fields
}

// Fields are where an action names something of Kubernetes, by the names of its fields. All is the action itself.
type Fields struct {
	// Objects has an object that is created, or a list of them, and Pod a static pod.
	Objects, Pod string
	// Object has the name of an object, and Merge a JSON merge patch of it.
	Object, Merge string
}

// All is for an action that has no fields.
const All = "."

// of returns a field of an action, if there is one of that name.
func (Fields) of(n *yaml.Node, name string) (*yaml.Node, bool) {
	switch {
	case name == "":
		return nil, false
	case name == All, n.Kind == yaml.ScalarNode: // the first field alone
		return n, true
	default:
		return strict.Find(n, name)
	}
}

// kindNames returns the names of the kinds that are wanted, all of them if
// wanted is nil.
func kindNames(kinds []ActionKind, wanted func(ActionKind) bool) []string {
	var all []string
	for _, k := range kinds {
		if wanted == nil || wanted(k) {
			all = append(all, k.Name)
		}
	}
	return all
}

// Field is the place of an action in a scenario file. What is below it is named
// by a path such as ".object" or "[0].id"; the empty path is the action itself.
type Field struct {
	v  *validator
	at string
	// Step is the step of the action.
	Step Step
}

// MaxName bounds the length of each part of an id, in bytes.
const MaxName = maxPart

// In is the place of a part of the action.
func (f Field) In(path string) Field { f.at += path; return f }

// Report reports a problem with a part of the action.
func (f Field) Report(path, format string, args ...any) { f.v.Note(f.at+path, format, args...) }

// Refuse reports a part that is wrong, unless it is missing or could not be decoded.
func (f Field) Refuse(path string, wrong bool, format string, args ...any) {
	f.v.Refuse(f.at+path, wrong, format, args...)
}

// Clean reports whether a part is there and could be decoded.
func (f Field) Clean(path string) bool { return f.v.Clean(f.at + path) }

// Has reports whether a part is there.
func (f Field) Has(path string) bool { return f.v.Has(f.at + path) }

// IsMapping reports whether the action is written with the names of its fields.
func (f Field) IsMapping() bool {
	n, found := f.v.Find(f.at)
	return found && n.Kind == yaml.MappingNode
}

// Present returns those of the fields that the action has.
func (f Field) Present(names ...string) []string { return f.v.present(f.at, names) }

// Duration reports a length of time that is written and is none.
func (f Field) Duration(path string, d behavior.Duration) { f.v.checkDuration(f.at+path, d) }

// Named reports a component that is named by nothing. Other names are for the
// rig to judge.
func (f Field) Named(path, name string) {
	f.Refuse(path, name == "", "the name of the component is empty")
}

// Object reports an API object that no API server could be asked to create.
func (f Field) Object(path string) {
	if n, found := f.v.Find(f.at + path); found {
		checkObject(f.v.Source, n)
	}
}

// Creates reports whether a step of the scenario creates an object of a kind, as far as is known:
// that of a name, or any if it is empty.
func (f Field) Creates(kind, name string) bool {
	for _, step := range f.v.scenario.Steps {
		creator, is := step.Action.(Creator)
		if is && slices.ContainsFunc(creator.Manifests(), func(o map[string]any) bool {
			metadata, _ := o["metadata"].(map[string]any)
			return o["kind"] == kind && (name == "" || metadata["name"] == name)
		}) {
			return true
		}
	}
	return false
}

// Span reports a length of time that can't be known. Written is the field of the
// check that has it.
func (f Field) Span(span Span) {
	_, periods, err := span.parse()
	ofGiven := f.Has(".of")
	switch {
	case err != nil:
		f.Report(".for", "%v", err)
	case periods == 0 && ofGiven:
		f.Report(".of", "of goes with a count of probe periods only, and %s is none", span.For)
	case periods > 0 && !ofGiven:
		f.Report("", "of is missing: the container whose probe periods count")
	case !f.v.manifestsUnknown():
		f.length(span)
	}
}

func (f Field) length(span Span) {
	switch _, err := f.v.scenario.Length(span); {
	case errors.Is(err, errTooLong):
		f.Report(".for", "%v", err)
	case err != nil:
		f.Report(".of", "%v", err)
	}
}

// manifestsUnknown reports whether some manifest could not be read, so that
// nothing can be said about what isn't in them.
func (v *validator) manifestsUnknown() bool {
	for i, step := range v.scenario.Steps {
		creator, is := step.Action.(Creator)
		if is && (creator.Manifests() == nil || !v.Clean(stepPath(i)+"."+step.Kind)) {
			return true
		}
	}
	return false
}
