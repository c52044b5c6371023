package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// Field is a field of API objects that a feature gate guards, in API server and
// kubelet: a row of data that stands beside the statements of its KEP (package
// ledger). Exactly one of Probe and Path is set.
type Field struct {
	// Gate guards the field.
	Gate string `json:"gate"`
	// Probe is the field's path below each probe and hook of a pod: "grpc.mode".
	Probe string `json:"probe,omitempty"`
	// Path is its path below the spec of a pod, or in an object of the Resource. A
	// segment that ends with [] is a list: "containers[].resizePolicy".
	Path string `json:"path,omitempty"`
	// Resource is the kind of objects that have the field, in the plural: "services".
	// If unset, pods, and what pods are made from.
	Resource string `json:"resource,omitempty"`
	// Default is the value that an API server with the gate on fills in: in pods, and not
	// in what they are made from. If unset, it fills in nothing.
	Default string `json:"default,omitempty"`
	// Wire is what the field of a probe changes on the wire. If unset, nothing.
	Wire *Wire `json:"wire,omitempty"`
}

// Wire is what a kubelet sends first where a probe's field has a value, and the gate
// is on. Hooks and probes of scheme HTTPS begin as without it.
type Wire struct {
	Value string       `json:"value"`
	First record.First `json:"first"`
}

// Validate returns all that is wrong with a field.
func (f Field) Validate() error {
	var mistakes []error
	mistake := func(is bool, format string, args ...any) {
		if is {
			mistakes = append(mistakes, fmt.Errorf("the field %s: "+format, append([]any{f.Name()}, args...)...))
		}
	}
	mistake((f.Probe == "") == (f.Path == ""), "exactly one of probe and path must be set")
	mistake(f.Probe != "" && f.Resource != "", "probes are of pods, not of %s", f.Resource)
	mistake(strings.HasSuffix(f.Name(), "[]"), "it must be a field, not a list of something")
	mistake(f.Wire != nil && f.Probe == "", "only a field of a probe can have wire")
	return errors.Join(mistakes...)
}

// Name is what reports call a field.
func (f Field) Name() string { return f.Probe + f.Path }

// handler is the kind of handlers that have the field of a probe.
func (f Field) handler() timeline.HandlerKind {
	kind, _, _ := strings.Cut(f.Probe, ".")
	return timeline.HandlerKind(kind)
}

// short is the name of the field without the path to it.
func (f Field) short() string { return f.Name()[strings.LastIndex(f.Name(), ".")+1:] }

// Values are the values of a field in an object, by where they stand:
// "containers/app/livenessProbe". Where the field is not set, there is none.
type Values map[string]string

// In returns the values of the field in an object.
func (f Field) In(resource string, object map[string]any) Values {
	values := make(Values)
	f.each(resource, object, func(where string, in map[string]any, name string) {
		if text := asText(in[name]); text != "" {
			values[where] = text
		}
	})
	return values
}

// WithoutDefault takes what an API server may have filled in out of an object.
func (f Field) WithoutDefault(resource string, object map[string]any) {
	if !f.defaulted(resource) {
		return
	}
	f.each(resource, object, func(_ string, in map[string]any, name string) {
		if asText(in[name]) == f.Default {
			delete(in, name)
		}
	})
}

// defaulted reports whether an API server fills the field in.
func (f Field) defaulted(resource string) bool { return f.Default != "" && resource == "pods" }

// Places are where an object could have the field and an API server fills it in.
type Places []string

// Fills returns where an API server fills the field in.
func (f Field) Fills(resource string, object map[string]any) (places Places) {
	if f.defaulted(resource) {
		f.each(resource, object, func(where string, _ map[string]any, _ string) { places = append(places, where) })
	}
	return places
}

// filled returns the values with the default in all places that have none.
func (f Field) filled(places Places, values Values) Values {
	if len(places) == 0 {
		return values
	}
	all := make(Values)
	for _, where := range places {
		all[where] = f.Default
	}
	maps.Copy(all, values)
	return all
}

// Unfilled returns the values without those that an API server may have filled in.
func (f Field) Unfilled(resource string, values Values) Values {
	values = maps.Clone(values)
	maps.DeleteFunc(values, func(_, value string) bool { return f.defaulted(resource) && value == f.Default })
	return values
}

// Used reports whether the values are more than what an API server fills in.
func (f Field) Used(resource string, values Values) bool {
	return len(f.Unfilled(resource, values)) > 0
}

// asText is a value as a text: itself if it is one, and empty if it is unset.
func asText(value any) string {
	if text, is := value.(string); is || value == nil {
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "" // it was decoded from JSON
	}
	return string(text)
}

// Patched returns what a JSON merge patch of an object makes of the field: a list is
// replaced as a whole, or stays as it was (RFC 7386).
func (f Field) Patched(resource string, patch map[string]any, was Values) Values {
	values := f.In(resource, patch)
	for where, value := range was {
		if !changes(f.root(resource, patch), strings.Split(where, "/")) {
			values[where] = value
		}
	}
	return values
}

// changes reports whether a merge patch is about what is at a path.
func changes(patch any, path []string) bool {
	for _, name := range path {
		fields, is := patch.(map[string]any)
		if !is {
			return true
		}
		if patch, is = fields[name]; !is {
			return false
		}
	}
	return true
}

// root is what the paths of the field begin at. It is nil if an object has no such
// field.
func (f Field) root(resource string, object map[string]any) map[string]any {
	spec, _ := object["spec"].(map[string]any)
	switch {
	case f.Resource == resource:
		return object
	case f.Resource != "":
		return nil
	case resource == "pods":
		return spec
	}
	template, _ := spec["template"].(map[string]any)
	pod, _ := template["spec"].(map[string]any)
	return pod
}

// visit is called with where a field stands or could stand, what it is a field of, and
// its name there.
type visit func(where string, in map[string]any, name string)

var (
	containers = []string{"initContainers", "containers", "ephemeralContainers"}
	probes     = []string{"livenessProbe", "readinessProbe", "startupProbe", "lifecycle.postStart", "lifecycle.preStop"}
)

// each visits the field wherever an object has it, or what it is a field of.
func (f Field) each(resource string, object map[string]any, do visit) {
	root := f.root(resource, object)
	if f.Probe == "" {
		walk(root, strings.Split(f.Path, "."), "", do)
		return
	}
	below := "/" + strings.ReplaceAll(f.Probe, ".", "/")
	for _, list := range containers {
		for _, probe := range probes {
			walk(root, strings.Split(list+"[]."+probe+"."+f.Probe, "."), "", func(where string, in map[string]any, name string) {
				do(strings.Replace(strings.TrimSuffix(where, below), "/lifecycle/", "/", 1), in, name)
			})
		}
	}
}

// walk visits what is at a path. Items of lists are called by their names.
func walk(in map[string]any, path []string, where string, do visit) {
	name, isList := strings.CutSuffix(path[0], "[]")
	where = strings.TrimPrefix(where+"/"+name, "/")
	value, is := in[name]
	switch {
	case in == nil || !is && len(path) > 1:
	case isList:
		items, _ := value.([]any)
		for i, item := range items {
			fields, _ := item.(map[string]any)
			called, named := fields["name"].(string)
			if !named {
				called = strconv.Itoa(i)
			}
			walk(fields, path[1:], where+"/"+called, do)
		}
	case len(path) == 1:
		do(where, in, name)
	default:
		fields, _ := value.(map[string]any)
		walk(fields, path[1:], where, do)
	}
}
