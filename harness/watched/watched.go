// Package watched lists and watches objects, and records how they change.
package watched

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/record"
)

// View returns what is recorded of an object.
type View func(*unstructured.Unstructured) *unstructured.Unstructured

// Record follows the objects of a resource until ctx is done, and has each change taken (see Take). The channel is closed once
// all objects were seen that existed at first.
func (s *Seen) Record(ctx context.Context, running *sync.WaitGroup, source *Source, resource string, view View, write func(subject string, event record.ObjectObserved)) (synced <-chan struct{}) {
	return Follow(ctx, running, source, func(change string, before, now *unstructured.Unstructured) {
		s.Take(change, resource, before, now, view, write)
	})
}

// Take calls write with a state of an object if it differs from what was recorded before. It leaves out who manages fields, but
// for those who changed some. A view that is nil leaves the object as it is.
func (s *Seen) Take(change, resource string, before, now *unstructured.Unstructured, view View, write func(subject string, event record.ObjectObserved)) {
	subject, event, err := observed(change, resource, before, now, view)
	if err != nil {
		return // what was decoded from JSON can be encoded
	}
	for _, object := range s.Changed(string(now.GetUID()), subject, event) {
		write(object.Subject, object.ObjectObserved)
	}
}

// observed returns what is recorded of an object, and its subject.
func observed(change, resource string, before, now *unstructured.Unstructured, view View) (subject string, event record.ObjectObserved, err error) {
	event = record.ObjectObserved{Change: change, Resource: resource, Namespace: now.GetNamespace(), Name: now.GetName(), Writers: writersOf(before, now)}
	subject = resource + "/" + event.Name
	if event.Namespace != "" {
		subject = resource + "/" + event.Namespace + "/" + event.Name
	}
	now = now.DeepCopy()
	unstructured.RemoveNestedField(now.Object, "metadata", "managedFields")
	if view != nil {
		now = view(now)
	}
	event.Object, err = json.Marshal(now.Object)
	return subject, event, err
}

// IsReady reports whether a node is ready.
func IsReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}
