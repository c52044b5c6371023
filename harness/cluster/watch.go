package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"

	"github.com/skewrig/skewrig/harness/watched"
	"github.com/skewrig/skewrig/record"
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

// leases are observed too where a node has a clock of its own, which they show.
// There are too many of them, and they change too often, to do so in every rig.
var leases = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}

// resources are those whose objects go into the record of this rig: of those that
// its topology asks for, the ones that an API server has. What an earlier observer
// watched takes a moment to come back after a restart, if it is a custom resource.
func (c *Cluster) resources(ctx context.Context, of server, earlier *observer) (all []schema.GroupVersionResource, err error) {
	asked := c.cfg.Topology.Observed
	if slices.ContainsFunc(c.cfg.Topology.Nodes, func(n record.Node) bool { return n.OwnClock }) && !slices.Contains(asked, leases.Resource) {
		all = append(all, leases)
	}
	all = append(all, observed...)
	if len(asked) == 0 {
		return all, nil
	}
	own := len(all)
	back := func(context.Context) (bool, error) {
		groups, err := restmapper.GetAPIGroupResources(of.client.Discovery())
		if err != nil {
			return false, err
		}
		mapper := restmapper.NewDiscoveryRESTMapper(groups)
		all = all[:own]
		for _, name := range asked {
			if resource, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: name}); err == nil {
				all = append(all, resource)
			}
		}
		return earlier == nil || !slices.ContainsFunc(earlier.resources, func(r schema.GroupVersionResource) bool { return !slices.Contains(all, r) }), nil
	}
	if err := wait.PollUntilContextTimeout(ctx, backPoll, backLimit, true, back); err != nil && !wait.Interrupted(err) {
		return nil, err
	}
	return all, context.Cause(ctx)
}

// backLimit is how long custom resources may take to come back, and backPoll how often
// to look.
const backLimit, backPoll = 10 * time.Second, 100 * time.Millisecond

// observer records every state of the observed objects that the API server
// shows. It decodes them into maps, so that a field which this skewrig's client
// library does not know is recorded all the same.
type observer struct {
	recorder record.Recorder
	stop     func() // ends the watches; returns when they have ended
	factory  dynamicinformer.DynamicSharedInformerFactory
	ended    chan struct{}
	// resources are those that it watches.
	resources []schema.GroupVersionResource
	seen      *watched.Seen
}

// observe starts an observer and returns when it has seen what is there. What
// an earlier observer has recorded already is recorded again only if it looks
// different now.
func observe(ctx context.Context, config *rest.Config, observed []schema.GroupVersionResource, recorder record.Recorder, earlier *observer) (*observer, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	o := &observer{recorder: recorder, seen: watched.NewSeen(), ended: make(chan struct{})}
	if earlier != nil {
		o.seen = earlier.seen
		o.seen.Again()
	}
	o.factory = dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	o.stop = sync.OnceFunc(func() { close(o.ended); o.factory.Shutdown() })
	if err := o.watch(ctx, observed); err != nil {
		o.stop()
		return nil, err
	}
	o.recordMissing()
	return o, nil
}

// watch watches those of the resources that are not watched yet, and returns when it has
// seen what is there.
func (o *observer) watch(ctx context.Context, resources []schema.GroupVersionResource) error {
	var handled []cache.InformerSynced
	for _, resource := range resources {
		if slices.Contains(o.resources, resource) {
			continue
		}
		o.resources = append(o.resources, resource)
		registration, err := o.factory.ForResource(resource).Informer().AddEventHandler(o.handler(resource.Resource))
		if err != nil {
			return err
		}
		handled = append(handled, registration.HasSynced)
	}
	o.factory.Start(o.ended)
	if !cache.WaitForCacheSync(ctx.Done(), handled...) {
		return context.Cause(ctx)
	}
	return nil
}

// recordMissing records as deleted what an earlier observer saw and this one
// does not.
func (o *observer) recordMissing() {
	for _, gone := range o.seen.Missing() {
		o.recorder.Append("watch", gone.Subject, gone.ObjectObserved)
	}
}

// handler appends an object of a resource if it differs from what was recorded before.
func (o *observer) handler(resource string) cache.ResourceEventHandler {
	return watched.Handler(func(change string, object *unstructured.Unstructured, writers []record.Writer) {
		subject, event, is := watched.Event(change, resource, object)
		event.Writers = writers
		if is && o.seen.Changed(string(object.GetUID()), subject, event) {
			o.recorder.Append("watch", subject, event)
		}
	})
}
