// Package trial plans a sweep and judges it: which objects are made, what is done to each while the gates of a
// release are off, and what of that should not be. Package engine runs it.
package trial

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/skewrig/skewrig/sweep/object"
)

// Use is an object that uses a field.
type Use struct {
	// Field is the field, Gates guard it, and Path is where the object has it. If unset, the object
	// uses no field: it is a control.
	Field string   `json:"field,omitempty"`
	Gates []string `json:"gates,omitempty"`
	Path  string   `json:"path,omitempty"`
	// Under are the gates of the fields that it is in.
	Under []string `json:"under,omitempty"`
	// ByComment is true if it is the comment of the field that names the gates, and no marker.
	ByComment bool `json:"byComment,omitempty"`
	// APIVersion and Kind are those of the object, and Resource is its kind in the plural.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Resource   string `json:"resource"`
	// Namespaced is true if the object is in a namespace.
	Namespaced bool           `json:"namespaced"`
	Object     map[string]any `json:"object"`
}

// Touch is what is done to an object while the gates are off.
type Touch string

// The touches.
const (
	Nothing  Touch = "nothing"
	Label    Touch = "label"
	Apply    Touch = "apply"    // the label, by server-side apply
	Template Touch = "template" // as kubectl rollout restart does
	Scale    Touch = "scale"
	Delete   Touch = "delete"
	Create   Touch = "create" // it is made while the gates are off, and not before
)

// inWords says what was done to an object.
var inWords = map[Touch]string{
	Nothing: "not touched", Label: "labeled", Apply: "labeled by server-side apply", Template: "pod template changed", Scale: "scaled", Delete: "deleted",
	Create: "created",
}

// String says what was done to an object.
func (t Touch) String() string { return inWords[t] }

// Item is an object of a sweep, and what is done to it.
type Item struct {
	Use

	// Name is that of the object.
	Name  string `json:"name"`
	Touch Touch  `json:"touch"`
}

// Key is the object as a timeline has it, which is in a namespace if its kind is.
func (i Item) Key(namespace string) string {
	if !i.Namespaced {
		namespace = ""
	}
	return path.Join(i.Resource, namespace, i.Name)
}

// IsControl reports whether the object uses no field.
func (i Item) IsControl() bool { return i.Field == "" }

// Items are an object for each use and each touch of its kind.
func Items(uses []Use) (all []Item) {
	for _, u := range uses {
		for _, touch := range touchesOf(u) {
			name := fmt.Sprintf("s%04d", len(all))
			item := Item{Use: u, Name: name, Touch: touch}
			item.Object = renamed(u.Object, object.Name, name)
			all = append(all, item)
		}
	}
	return all
}

// touchesOf are those that can be done to an object.
func touchesOf(u Use) []Touch {
	touches := []Touch{Nothing, Label, Apply, Delete}
	if podTemplate(u.Object) != nil && u.Kind != "Job" { // whose template can't be changed
		touches = append(touches, Template)
	}
	if scalable[u.Kind] {
		touches = append(touches, Scale)
	}
	if !u.ByComment { // else it may be a value that the gate guards, or a use
		touches = append(touches, Create)
	}
	return touches
}

var scalable = map[string]bool{"Deployment": true, "ReplicaSet": true, "StatefulSet": true, "ReplicationController": true}

// templates are where kinds have that of a pod.
var templates = [][]string{{"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}}

// podTemplate is where an object has that of a pod, if it has one.
func podTemplate(object map[string]any) []string {
	for _, where := range templates {
		var in any = object
		for _, name := range where {
			fields, _ := in.(map[string]any)
			in = fields[name]
		}
		if in != nil {
			return where
		}
	}
	return nil
}

// Patch is a touch as a JSON merge patch. There is none for Nothing, Apply, Delete and Create.
func (i Item) Patch() map[string]any {
	switch i.Touch {
	case Label:
		return map[string]any{"metadata": map[string]any{"labels": map[string]any{touched: "yes"}}}
	case Scale:
		return map[string]any{"spec": map[string]any{"replicas": 2}}
	case Template:
		patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{touched: "yes"}}}
		for _, name := range slices.Backward(podTemplate(i.Object)) {
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

// touched is the label or annotation of what was touched.
const touched = "sweep.skewrig.dev/touched"

// renamed copies an object with another name, which is also the value of its labels app.
func renamed(object map[string]any, from, to string) map[string]any {
	c := relabeled(object, from, to).(map[string]any) //nolint:forcetypeassert // it is a copy
	metadata, is := c["metadata"].(map[string]any)
	if !is {
		metadata = make(map[string]any)
		c["metadata"] = metadata
	}
	metadata["name"] = to
	return c
}

func relabeled(v any, from, to string) any {
	switch v := v.(type) {
	case map[string]any:
		c := maps.Clone(v)
		for key, below := range c {
			if key == "app" && below == any(from) {
				below = to
			}
			c[key] = relabeled(below, from, to)
		}
		return c
	case []any:
		c := slices.Clone(v)
		for i, below := range c {
			c[i] = relabeled(below, from, to)
		}
		return c
	default:
		return v
	}
}
