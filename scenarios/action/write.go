package action

import (
	"cmp"
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Verb is how an object is written.
type Verb string

// The verbs.
const (
	// Creates posts an object, as create and apply do.
	Creates Verb = "create"
	// Patches sends a JSON merge patch (RFC 7386).
	Patches Verb = "patch"
	// Puts reads an object, merges into it, and sends all of it.
	Puts Verb = "put"
	// Applies sends what a manager wants of an object (server-side apply).
	Applies Verb = "apply"
)

// Write is one request that writes an object.
type Write struct {
	Verb Verb `json:"verb"`
	// Ref is the object. If unset, it is the one that Body is.
	Ref spec.ObjectRef `json:"of,omitzero"`
	// Body is an object, or a JSON merge patch of one.
	Body map[string]any `json:"body,omitempty"`
	// Subresource is the part of the object that is written. If unset, the object itself.
	Subresource string `json:"subresource,omitempty"`
	WriteOptions
	// Force takes fields away from other managers, as Applies does.
	Force bool `json:"force,omitempty"`
	// Judged is true if a check says what the answer must be. A refusal is an error otherwise.
	Judged bool `json:"-"`
}

// WriteOptions are what a write asks of the API server beside what it sends.
type WriteOptions struct {
	// DryRun has the API server do all but store the object.
	DryRun bool `json:"dryRun,omitempty"`
	// FieldValidation is what the API server does about fields that it doesn't know: Ignore,
	// Warn or Strict. If unset, Warn.
	FieldValidation FieldValidation `json:"fieldValidation,omitempty"`
	// Manager is the field manager. If unset, skewrig.
	Manager string `json:"manager,omitempty"`
}

// FieldValidation is what an API server does about fields that it doesn't know
// (k8s.io/apimachinery, meta/v1: CreateOptions).
type FieldValidation string

// The levels of field validation.
const (
	Ignore FieldValidation = "Ignore"
	Warn   FieldValidation = "Warn"
	Strict FieldValidation = "Strict"
)

// check reports options that no API server takes.
func (o WriteOptions) check(f spec.Field) {
	f.Refuse(".fieldValidation", !slices.Contains([]FieldValidation{Ignore, Warn, Strict}, o.FieldValidation),
		"%s is no level of field validation: Ignore, Warn or Strict", strict.Quote(string(o.FieldValidation)))
	f.Refuse(".manager", o.Manager == "" || len(o.Manager) > maxManager || OneLine(o.Manager) != o.Manager,
		"%s can't be a field manager: it has 1 to %d characters that can be printed", strict.Quote(o.Manager), maxManager)
}

// maxManager is how long the name of a field manager may be
// (k8s.io/apimachinery, meta/v1/validation).
const maxManager = 128

// asked is what is asked beside what is sent.
func (o WriteOptions) asked() (text string) {
	if o.Manager != "" {
		text += " as " + o.Manager
	}
	if o.FieldValidation != "" {
		text += " with field validation " + string(o.FieldValidation)
	}
	if o.DryRun {
		text += " as a dry run"
	}
	return text
}

// Create creates an object, as apply does, with options.
type Create struct {
	// Object is the object, or what a subresource takes, such as an Eviction.
	Object map[string]any `json:"object"`
	// Subresource is what is created of the object of that name, as in pods/eviction. If
	// unset, the object itself is.
	Subresource string `json:"subresource,omitempty"`
	WriteOptions
}

func (c Create) Check(f spec.Field) {
	f.Object(".object")
	of, part, both := strings.Cut(c.Subresource, "/")
	if f.Has(".subresource") && !both {
		f.Report(".subresource", "%s names no subresource: write the resource too, as in pods/eviction", strict.Quote(c.Subresource))
	} else if f.Has(".subresource") {
		checkSubresource(f, of, part)
	}
	c.check(f)
}

func (c Create) Manifests() spec.Objects { return spec.Objects{c.Object} }

func (c Create) Plan(s Scene) (Action, error) {
	w := Write{Verb: Creates, Body: c.Object, WriteOptions: c.WriteOptions}
	if of, part, is := strings.Cut(c.Subresource, "/"); is {
		o := unstructured.Unstructured{Object: c.Object}
		w.Subresource, w.Ref = part, spec.ObjectRef{Resource: of, Name: o.GetName()}
		if !kube.ClusterScoped(of) {
			w.Ref.Namespace = cmp.Or(o.GetNamespace(), metav1.NamespaceDefault)
		}
	}
	return Written{Write: w, Expected: expected(s)}, nil
}

// Put reads an object, changes it, and writes all of it back, as clients do that know no
// patches. A client that has types is Client.
type Put struct {
	// Object is resource/name or resource/namespace/name.
	Object spec.ObjectRef `json:"object"`
	// Merge is a JSON merge patch (RFC 7386) of what was read. If unset, that is written as it
	// is.
	Merge map[string]any `json:"merge,omitempty"`
	// Subresource is the part of the object that is read and written, such as status or scale.
	// If unset, the object itself is.
	Subresource string `json:"subresource,omitempty"`
	WriteOptions
}

func (p Put) Check(f spec.Field) {
	if f.Has(".subresource") && f.Clean(".object") {
		checkSubresource(f, p.Object.Resource, p.Subresource)
	}
	p.check(f)
}

func (p Put) Elsewhere() bool { return p.Object.Cluster != "" }

func (p Put) Plan(s Scene) (Action, error) {
	return Written{
		Write:    Write{Verb: Puts, Ref: p.Object, Body: p.Merge, Subresource: p.Subresource, WriteOptions: p.WriteOptions},
		Expected: expected(s),
	}, nil
}

// ServerSideApply sends what a field manager wants an object to have, and creates it if it is
// not there.
type ServerSideApply struct {
	// Object is the object, with the fields that the manager wants.
	Object map[string]any `json:"object"`
	// Force takes fields away from other managers. If unset, a conflict is refused.
	Force bool `json:"force,omitempty"`
	WriteOptions
}

func (a ServerSideApply) Check(f spec.Field) {
	f.Object(".object")
	f.Refuse(".object.metadata.generateName", true, "an object that is applied has a name")
	a.check(f)
}

func (a ServerSideApply) Manifests() spec.Objects { return spec.Objects{a.Object} }

func (a ServerSideApply) Plan(s Scene) (Action, error) {
	return Written{Write: Write{Verb: Applies, Body: a.Object, Force: a.Force, WriteOptions: a.WriteOptions}, Expected: expected(s)}, nil
}

// Written is a write with options, as it is planned.
type Written struct {
	Write
	Expected `json:"-"`
}

func (w Written) Describe() string {
	text := string(w.Verb) + " "
	switch {
	case w.Verb == Puts && len(w.Body) == 0:
		text += w.Ref.String() + " as it is read"
	case w.Verb == Puts:
		text += w.Ref.String() + " with " + shorten(Encode(w.Body))
	case w.Subresource != "":
		text += describeObject(w.Body) + " as " + w.Subresource + " of " + w.Ref.String()
	default:
		text += describeObject(w.Body)
	}
	if w.Verb == Puts && w.Subresource != "" {
		text += " as its " + w.Subresource
	}
	text += w.asked()
	if w.Force {
		text += " by force"
	}
	return OneLine(text + w.describe())
}

func (w Written) Run(ctx context.Context, rig Rig) error {
	w.Judged = w.judged()
	if _, err := rig.Write(ctx, w.Write); err != nil {
		return err
	}
	return w.judge(ctx, rig)
}

// Facts are those of a request with options.
func (w Written) Facts() Facts {
	f := Facts{Needs: NeedsObjects, Reach: ofObject(w.Body), Writes: &w.Write, Gives: gives("requests"), Checks: w.Checked()}
	switch {
	case w.Ref.Name != "":
		f.Reach = ofRef(w.Ref)
	case !w.DryRun:
		f.Creates = []map[string]any{w.Body}
	}
	if LooksAround(w.Body) {
		f.Reach = ReachAll
	}
	return f
}
