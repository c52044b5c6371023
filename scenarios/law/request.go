package law

import (
	"encoding/json"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// Verb is how an API server is asked.
type Verb string

// The verbs.
const (
	Asks    Verb = "" // nothing
	Creates Verb = "create"
	Deletes Verb = "delete"
	// Patches sends a JSON merge patch (RFC 7386), Puts reads an object, merges into it and sends all of it, and Applies
	// sends what a field manager wants (server-side apply).
	Patches Verb = "patch"
	Puts    Verb = "put"
	Applies Verb = "apply"
)

// Request is what a client asks an API server for about an object.
type Request struct {
	Verb Verb
	// Body is an object that is created or applied, or a JSON merge patch of one.
	Body map[string]any
	// Without are the paths of fields that the client does not know, and so leaves out. If unset, it knows all.
	Without []string
	// Subresource is the part of the object that is asked for. If unset, the object itself.
	Subresource string
}

// Written is what a client writes back that has read an object.
func (r Request) Written(read map[string]any) map[string]any {
	o := runtime.DeepCopyJSON(read)
	for _, path := range r.Without {
		kube.Remove(o, path)
	}
	return record.Merge(o, r.Body)
}

// Merge is what a client changes that writes back an object, as a JSON merge patch.
func (r Request) Merge(object map[string]any) (json.RawMessage, error) {
	before, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(r.Written(object))
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(before, after)
}

// asks reports whether one of the requests about an object has a verb.
func (o Object) asks(v Verb) bool {
	return slices.ContainsFunc(o.Requests, func(r Request) bool { return r.Verb == v })
}

// isWithoutFields reports whether a client that does not know the fields asks for something.
func (o Object) isWithoutFields() bool {
	return slices.ContainsFunc(o.Requests, func(r Request) bool { return len(r.Without) > 0 })
}
