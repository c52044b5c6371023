package action

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/kube"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Delete deletes an object. The object alone is one of these, too.
type Delete struct {
	// Object is resource/name or resource/namespace/name.
	Object spec.ObjectRef `json:"object,omitzero"`
	// Each is resource/namespace: all objects of the resource in the namespace are deleted. If unset, Object is.
	Each string `json:"each,omitempty"`
	// Propagation decides about what the object owns: Foreground, Background or Orphan. If unset, it is the default
	// of the API, which orphans the pods of a Job.
	Propagation metav1.DeletionPropagation `json:"propagation,omitempty"`
}

// Ref is the object that is deleted, or each of a namespace, whose name is spec.Everything.
func (d Delete) Ref() spec.ObjectRef {
	if d.Each == "" {
		return d.Object
	}
	resource, namespace, _ := strings.Cut(d.Each, "/")
	return spec.ObjectRef{Resource: resource, Namespace: namespace, Name: spec.Everything}
}

func (Delete) OrFirst() {}

// MarshalJSON writes the object alone where that is all, as plans always have.
func (d Delete) MarshalJSON() ([]byte, error) {
	type written Delete
	if d.Propagation == "" && d.Each == "" {
		return json.Marshal(d.Object)
	}
	return json.Marshal(written(d))
}

// propagations are the policies of an API server (k8s.io/apimachinery, meta/v1: DeletionPropagation).
var propagations = []metav1.DeletionPropagation{
	metav1.DeletePropagationForeground, metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan,
}

func (d Delete) Check(f spec.Field) {
	if f.Has(".each") {
		of := d.Ref()
		checkResource(f, ".each", of.Resource)
		f.Refuse(".each", kube.ClusterScoped(of.Resource), "%s are in no namespace", of.Resource)
		f.Refuse(".each", len(validation.IsDNS1123Label(of.Namespace)) > 0, "%s names no objects of a namespace: write resource/namespace, like pods/shop", strict.Quote(d.Each))
	}
	f.Refuse("", f.Has(".each") && f.Has(".object"), "object and each exclude each other")
	f.Refuse("", f.IsMapping() && !f.Has(".each") && !f.Has(".object"), "object is missing: resource/name or resource/namespace/name")
	f.Refuse(".propagation", !slices.Contains(propagations, d.Propagation), "%s is no propagation policy: Foreground, Background or Orphan", strict.Quote(string(d.Propagation)))
}

func (d Delete) Elsewhere() bool { return d.Object.Cluster != "" }

func (d Delete) Describe() string {
	text := "delete " + d.Ref().String()
	if d.Propagation != "" {
		text += " with propagation policy " + string(d.Propagation)
	}
	return OneLine(text)
}

func (d Delete) Run(ctx context.Context, rig Rig) error { return rig.Delete(ctx, d) }

// Facts are those of a request that deletes an object.
func (d Delete) Facts() Facts {
	return Facts{Needs: NeedsObjects, Reach: ofRef(d.Ref()), Deletes: d.Ref(), Unanswered: 1, Gives: gives("requests")}
}
