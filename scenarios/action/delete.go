package action

import (
	"context"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Delete deletes an object. The object alone is one of these, too.
type Delete struct {
	// Object is resource/name or resource/namespace/name.
	Object spec.ObjectRef `json:"object"`
	// Propagation decides about what the object owns: Foreground, Background or Orphan. If unset, it is the default
	// of the API, which orphans the pods of a Job.
	Propagation metav1.DeletionPropagation `json:"propagation,omitempty"`
}

func (Delete) OrFirst() {}

// MarshalJSON writes the object alone where that is all, as plans always have.
func (d Delete) MarshalJSON() ([]byte, error) {
	type written Delete
	if d.Propagation == "" {
		return json.Marshal(d.Object)
	}
	return json.Marshal(written(d))
}

// propagations are the policies of an API server (k8s.io/apimachinery, meta/v1: DeletionPropagation).
var propagations = []metav1.DeletionPropagation{
	metav1.DeletePropagationForeground, metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan,
}

// Check implements spec.Action: what is no object can't be read.
func (d Delete) Check(f spec.Field) {
	f.Refuse(".propagation", !slices.Contains(propagations, d.Propagation), "%s is no propagation policy: Foreground, Background or Orphan", strict.Quote(string(d.Propagation)))
}

func (d Delete) Elsewhere() bool { return d.Object.Cluster != "" }

func (d Delete) Describe() string {
	text := "delete " + d.Object.String()
	if d.Propagation != "" {
		text += " with propagation policy " + string(d.Propagation)
	}
	return OneLine(text)
}

func (d Delete) Run(ctx context.Context, rig Rig) error { return rig.Delete(ctx, d) }

// Facts are those of a request that deletes an object.
func (d Delete) Facts() Facts {
	return Facts{Needs: NeedsObjects, Reach: ofRef(d.Object), Deletes: d.Object, Unanswered: 1, Gives: gives("requests")}
}
