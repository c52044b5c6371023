package action

import (
	"cmp"
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Inline are objects that stand in the scenario: one object, or a list.
type Inline spec.Objects

func (Inline) OneOrMore() {}

func (o Inline) Check(f spec.Field) {
	f.Refuse("", len(o) == 0, "there are no objects")
	for i := range o {
		if f.Clean("") {
			f.Object(index(i))
		}
	}
}

func (o Inline) Manifests() spec.Objects { return spec.Objects(o) }

func (o Inline) Plan(s Scene) (Action, error) {
	return Apply{Objects: o, Expected: expected(s)}, nil
}

// File is a file of objects beside the scenario.
type File struct {
	Name    string
	Objects spec.Objects // nil if they are not known
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *File) UnmarshalText(text []byte) error {
	o.Name = string(text)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (o File) MarshalText() ([]byte, error) { return []byte(o.Name), nil }

func (o File) Load(read func(string) (spec.Objects, error)) (spec.Action, error) {
	if o.Name == "" {
		return o, nil
	}
	objects, err := read(o.Name)
	return File{Name: o.Name, Objects: objects}, err
}

func (o File) Check(f spec.Field) {
	f.Refuse("", o.Name == "", "the name of the file is empty")
	f.Refuse("", o.Objects != nil && len(o.Objects) == 0, "%s holds no objects", strict.Quote(o.Name))
}

func (o File) Manifests() spec.Objects { return o.Objects }

func (o File) Plan(s Scene) (Action, error) {
	apply := Apply{File: o.Name, Expected: expected(s)}
	for _, object := range o.Objects { // cells that run at the same time don't share it
		apply.Objects = append(apply.Objects, runtime.DeepCopyJSON(object))
	}
	return apply, nil
}

// Apply creates objects.
type Apply struct {
	Objects []map[string]any `json:"objects"`
	// File is the file that they were read from. Empty if they stand in the
	// scenario itself.
	File     string `json:"file,omitempty"`
	Expected `json:"-"`
}

// Describe implements Action: which objects are created.
func (a Apply) Describe() string {
	names := make([]string, len(a.Objects))
	for i, object := range a.Objects {
		names[i] = describeObject(object)
	}
	text := "create " + strings.Join(names, ", ")
	if a.File != "" {
		text += " from " + a.File
	}
	return OneLine(text + a.describe())
}

func (a Apply) Run(ctx context.Context, rig Rig) error {
	for _, object := range a.Objects {
		code, err := rig.Write(ctx, Write{Verb: Creates, Body: object, Judged: a.judged()})
		if err != nil {
			return err
		}
		if !a.met(code) {
			break // the last answer is what the check judges
		}
	}
	return a.judge(ctx, rig)
}

// describeObject names an object by its kind: Pod tls, or Pod shop/web outside
// the namespace default.
func describeObject(object map[string]any) string {
	o := unstructured.Unstructured{Object: object}
	name := cmp.Or(o.GetName(), o.GetGenerateName()+"*")
	if namespace := o.GetNamespace(); namespace != "" && namespace != "default" {
		name = namespace + "/" + name
	}
	return o.GetKind() + " " + name
}

// Facts are those of requests that create objects.
func (a Apply) Facts() Facts {
	f := Facts{Needs: NeedsObjects, Creates: a.Objects, Gives: gives("requests"), Checks: a.Checked()}
	for _, o := range a.Objects {
		f.Reach = max(f.Reach, ofObject(o))
	}
	return f
}
