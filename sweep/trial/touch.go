package trial

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/skewrig/skewrig/scenarios/kube"
)

// Touch is what is done to an object after the change.
type Touch string

// The touches.
const (
	Nothing   Touch = "nothing"
	Label     Touch = "label"
	Apply     Touch = "apply"      // the label, by server-side apply
	Put       Touch = "put"        // the label, by a client that writes back what it read
	OldClient Touch = "old-client" // the same by a client that does not know the field, and loses it
	Status    Touch = "status"     // a condition, as another controller sets one
	Template  Touch = "template"   // as kubectl rollout restart does
	Scale     Touch = "scale"
	Delete    Touch = "delete"
	Create    Touch = "create" // it is made after the change, and not before
	Bare      Touch = "bare"   // the same, without the field
)

// touches are all, the simplest first.
var touches = []Touch{Nothing, Label, Apply, Put, Status, Scale, Template, Delete, Create, Bare, OldClient}

// inWords says what was done to an object.
var inWords = map[Touch]string{
	Nothing: "not touched", Label: "labeled", Apply: "labeled by server-side apply", Put: "read and written back", OldClient: "written back by a client without the field",
	Status: "status written", Template: "pod template changed", Scale: "scaled", Delete: "deleted", Create: "created", Bare: "created without the field",
}

// String says what was done to an object.
func (t Touch) String() string { return inWords[t] }

// Touches are done to an object one after the other.
type Touches []Touch

// String says what was done to an object.
func (t Touches) String() string {
	var words []string
	for _, touch := range t {
		words = append(words, touch.String())
	}
	return strings.Join(words, ", ")
}

// Has reports whether a touch is one of them.
func (t Touches) Has(touch Touch) bool { return slices.Contains(t, touch) }

// Name is short, for names of files.
func (t Touches) Name() string {
	var names []string
	for _, touch := range t {
		names = append(names, string(touch))
	}
	return strings.Join(names, "-")
}

// touchesOf are those that can be done to an object.
func touchesOf(u Use) []Touch {
	all := append(lasting(u), Nothing, Delete)
	if u.ByComment { // it may be a value that the gate guards, or a use
		return all
	}
	all = append(all, Create)
	if !u.IsControl() {
		all = append(all, Bare)
	}
	return all
}

// lasting are the touches of an object after which it is there, and may be touched again.
func lasting(u Use) []Touch {
	all := []Touch{Label, Apply, Put}
	if !u.IsControl() {
		all = append(all, OldClient)
	}
	if u.Conditions {
		all = append(all, Status)
	}
	kind := kube.ByName(u.Kind)
	if kind.HasPods() && u.Kind != "Job" { // whose template can't be changed
		all = append(all, Template)
	}
	if kind.IsScalable() {
		all = append(all, Scale)
	}
	return all
}

// Patch is a touch as a JSON merge patch. There is none for those that are no patch.
func (i Item) Patch(t Touch) map[string]any {
	switch t {
	case Label:
		return map[string]any{"metadata": map[string]any{"labels": map[string]any{touched: "yes"}}}
	case Scale:
		return map[string]any{"spec": map[string]any{"replicas": int64(2)}}
	case Status:
		condition := map[string]any{"type": touched, "status": "True", "reason": "Touched", "message": "touched", "lastTransitionTime": "2026-01-01T00:00:00Z"}
		return map[string]any{"status": map[string]any{"conditions": []any{condition}}}
	case Template:
		patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{touched: "yes"}}}
		for _, name := range slices.Backward(kube.PodTemplate(i.Object)) {
			patch = map[string]any{name: patch}
		}
		return patch
	default:
		return nil
	}
}

// Applied is a touch as an object that is applied.
func (i Item) Applied() map[string]any {
	return map[string]any{
		"apiVersion": i.APIVersion, "kind": i.Kind,
		"metadata": map[string]any{"name": i.Name, "labels": map[string]any{touched: "yes"}},
	}
}

// Written is what a client writes back that has read an object.
func (i Item) Written(t Touch, read map[string]any) map[string]any {
	o := runtime.DeepCopyJSON(read)
	if t == OldClient {
		i.without(o)
	}
	metadata, _ := o["metadata"].(map[string]any)
	labels, is := metadata["labels"].(map[string]any)
	if !is {
		labels = make(map[string]any)
		metadata["labels"] = labels
	}
	labels[touched] = "yes"
	return o
}

// WithoutFields is the object of an item, as one has it that does not use the fields.
func (i Item) WithoutFields() map[string]any {
	o := runtime.DeepCopyJSON(i.Object)
	i.without(o)
	return o
}

func (i Item) without(o map[string]any) {
	for _, f := range i.Fields() {
		kube.Remove(o, f.Path)
	}
}

// touched is the label, the annotation or the condition of what was touched.
const touched = "sweep.skewrig.dev/touched"
