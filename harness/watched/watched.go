// Package watched records the objects that informers show.
package watched

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/skewrig/skewrig/record"
)

// Handler has a function called with a copy of each object of a resource that an informer shows, without who
// manages its fields, with how it changed (added, modified or deleted) and which field managers changed it.
func Handler(do func(change string, object *unstructured.Unstructured, writers []record.Writer)) cache.ResourceEventHandler {
	changed := func(change string, before, object any) {
		if u, is := object.(*unstructured.Unstructured); is {
			writers := writersOf(before, u)
			u = u.DeepCopy()
			unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
			do(change, u, writers)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { changed("added", nil, object) },
		UpdateFunc: func(before, object any) { changed("modified", before, object) },
		DeleteFunc: func(object any) {
			if missed, is := object.(cache.DeletedFinalStateUnknown); is {
				object = missed.Obj
			}
			changed(record.Deleted, nil, object)
		},
	}
}

// Event is what is recorded of an object of a resource, and its subject. It is false of an object that is no
// JSON, which none is that was decoded.
func Event(change, resource string, object *unstructured.Unstructured) (subject string, event record.ObjectObserved, is bool) {
	body, err := json.Marshal(object.Object)
	subject = resource + "/" + object.GetName()
	if object.GetNamespace() != "" {
		subject = resource + "/" + object.GetNamespace() + "/" + object.GetName()
	}
	return subject, record.ObjectObserved{
		Change: change, Resource: resource, Namespace: object.GetNamespace(), Name: object.GetName(), Object: body,
	}, err == nil
}
