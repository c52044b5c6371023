package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/skewrig/skewrig/harness/record"
)

// observed are the resources whose objects go into the record.
var observed = []schema.GroupVersionResource{
	{Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "events"},
	{Version: "v1", Resource: "nodes"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "replicasets"},
	{Group: "apps", Version: "v1", Resource: "daemonsets"},
	{Group: "apps", Version: "v1", Resource: "statefulsets"},
}

// observer records every state of the observed objects that the API server
// shows. It decodes them into maps, so that a field which this skewrig's client
// library does not know is recorded all the same.
type observer struct {
	recorder record.Recorder
	stop     func() // ends the watches; returns when they have ended

	mu   sync.Mutex
	seen map[string][]byte // by resource and UID: what was recorded last
}

// observe starts an observer and returns when it has seen what is there. What
// an earlier observer has recorded already is recorded again only if it looks
// different now.
func observe(ctx context.Context, config *rest.Config, recorder record.Recorder, earlier *observer) (*observer, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	o := &observer{recorder: recorder, seen: make(map[string][]byte)}
	if earlier != nil {
		o.seen = earlier.seen
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	for _, resource := range observed {
		if _, err := factory.ForResource(resource).Informer().AddEventHandler(o.handler(resource.Resource)); err != nil {
			return nil, err
		}
	}
	ended := make(chan struct{})
	o.stop = sync.OnceFunc(func() { close(ended); factory.Shutdown() })
	factory.Start(ended)
	factory.WaitForCacheSync(ctx.Done())
	if ctx.Err() != nil {
		o.stop()
		return nil, context.Cause(ctx)
	}
	return o, nil
}

func (o *observer) handler(resource string) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { o.record("added", resource, obj) },
		UpdateFunc: func(_, obj any) { o.record("modified", resource, obj) },
		DeleteFunc: func(obj any) {
			if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = missed.Obj
			}
			o.record("deleted", resource, obj)
		},
	}
}

// record appends an object if it differs from what was recorded before. The
// content is compared and not the resource version: an API server of another
// release may show the same stored object differently.
func (o *observer) record(change, resource string, obj any) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return
	}
	u = u.DeepCopy()
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	body, err := json.Marshal(u.Object)
	if err != nil {
		return // a decoded object can always be encoded
	}
	if !o.changed(change, resource+"/"+string(u.GetUID()), body) {
		return
	}
	subject := resource + "/" + u.GetName()
	if u.GetNamespace() != "" {
		subject = resource + "/" + u.GetNamespace() + "/" + u.GetName()
	}
	o.recorder.Append("watch", subject, ObjectObserved{
		Change: change, Resource: resource, Namespace: u.GetNamespace(), Name: u.GetName(), Object: body,
	})
}

func (o *observer) changed(change, key string, body []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if change == "deleted" {
		delete(o.seen, key)
		return true
	}
	if bytes.Equal(o.seen[key], body) {
		return false
	}
	o.seen[key] = body
	return true
}
