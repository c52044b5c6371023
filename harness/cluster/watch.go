package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

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

// resources are those whose objects go into the record of this rig: of those that its topology asks for, the ones that an
// API server serves. A custom resource that an earlier observer watched takes a moment to come back after a restart.
func (c *Cluster) resources(ctx context.Context, of server, earlier *observer) (all []schema.GroupVersionResource, err error) {
	asked := c.cfg.Topology.Observed
	if slices.ContainsFunc(c.cfg.Topology.Nodes, func(n record.Node) bool { return n.OwnClock }) && !slices.Contains(asked, leases.Resource) {
		all = append(all, leases)
	}
	all = append(all, observed...)
	if len(asked) == 0 {
		return all, nil
	}
	client, err := dynamic.NewForConfig(of.rest)
	if err != nil {
		return nil, err
	}
	own := len(all)
	back := func(ctx context.Context) (bool, error) {
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
		return !slices.ContainsFunc(earlier.without(all), func(r schema.GroupVersionResource) bool { return isDefined(ctx, client, r) }), nil
	}
	if err := wait.PollUntilContextTimeout(ctx, backPoll, backLimit, true, back); err != nil && !wait.Interrupted(err) {
		return nil, err
	}
	return all, context.Cause(ctx)
}

// backLimit is how long a start waits for custom resources to come back, and backPoll how often to look. The observer goes
// on to look for those that have not.
const backLimit, backPoll = 10 * time.Second, 100 * time.Millisecond

// isDefined reports whether a resource has a CustomResourceDefinition: then it is about to be served.
func isDefined(ctx context.Context, client dynamic.Interface, r schema.GroupVersionResource) bool {
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	_, err := definitions.Get(ctx, r.GroupResource().String(), metav1.GetOptions{})
	return err == nil
}

// observer records every state of the observed objects that the API server shows. It decodes them into maps, so that a
// field which this skewrig's client library does not know is recorded all the same.
//
// A resource that is not served any more is looked for as long as the observer runs; until it is served again, its
// objects are recorded as unserved, and not as deleted.
type observer struct {
	recorder record.Recorder
	client   dynamic.Interface
	seen     *watched.Seen
	// same reports whether the API server is the process that was observed first. What is missed while it is started again
	// is no loss: nothing is written then through it.
	same func() bool

	ctx     context.Context //nolint:containedctx // the watches last as long as the observer
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	resources map[schema.GroupVersionResource]context.CancelFunc // ends its watch; nil while it is not served
	broken    map[string]record.ObservationLost                  // of the resources whose watches can't go on
}

// observe starts an observer and returns when it has seen what is there. What an earlier observer has recorded already is
// recorded again only if it looks different now.
func observe(ctx context.Context, config *rest.Config, observed []schema.GroupVersionResource, recorder record.Recorder, earlier *observer, same func() bool) (*observer, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	o := newObserver(client, recorder, same)
	if earlier != nil {
		o.seen = earlier.seen
		o.seen.Again()
	}
	for _, r := range earlier.without(observed) {
		o.unserved(r)
	}
	if err := o.watch(ctx, observed); err != nil {
		o.stop()
		return nil, err
	}
	o.running.Go(o.await)
	return o, nil
}

func newObserver(client dynamic.Interface, recorder record.Recorder, same func() bool) *observer {
	o := &observer{recorder: recorder, client: client, same: same, seen: watched.NewSeen(), resources: make(map[schema.GroupVersionResource]context.CancelFunc), broken: make(map[string]record.ObservationLost)}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	return o
}

// stop ends the watches, and returns when they have ended. What one that could not go on has not seen is a loss while one
// process is observed. One that goes on in the end shows all that has happened, late.
func (o *observer) stop() {
	o.cancel()
	o.running.Wait()
	if !o.same() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, resource := range slices.Sorted(maps.Keys(o.broken)) {
		o.recorder.Append("watch", resource, o.broken[resource])
	}
}

// without are the resources that an observer watches or waits for, and that are not among others, in any version.
func (o *observer) without(others []schema.GroupVersionResource) (missing []schema.GroupVersionResource) {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for r := range o.resources {
		if !slices.ContainsFunc(others, func(other schema.GroupVersionResource) bool { return other.GroupResource() == r.GroupResource() }) {
			missing = append(missing, r)
		}
	}
	return missing
}

// watch watches those of the resources that are not watched yet, and returns when it has seen what is there. What an
// earlier observer saw and this one does not is recorded as deleted.
func (o *observer) watch(ctx context.Context, resources []schema.GroupVersionResource) error {
	var synced []<-chan struct{}
	for _, r := range resources {
		if is := o.begin(r); is != nil {
			synced = append(synced, is)
		}
	}
	if err := watched.Await(ctx, synced...); err != nil {
		return err
	}
	for _, r := range resources {
		o.seen.Served(r.Resource)
	}
	o.recordMissing()
	return nil
}

// begin begins to watch a resource, unless it is watched: then synced is nil.
func (o *observer) begin(r schema.GroupVersionResource) (synced <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.resources[r] != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(o.ctx)
	o.resources[r] = cancel
	source := &watched.Source{
		Client: watched.ClientOf(o.client.Resource(r)), Unserved: func() { o.unservedBy(r) },
		Missed: func(since time.Time, why error) { o.missed(r.Resource, since, why) },
		Broken: func(since time.Time, why error) { o.breaks(r.Resource, since, why) }, Mended: func(time.Time, error) { o.mends(r.Resource) },
	}
	return o.seen.Record(ctx, &o.running, source, r.Resource, nil, o.record)
}

func (o *observer) record(subject string, event record.ObjectObserved) {
	o.recorder.Append("watch", subject, event)
}

// missed records that states of the objects of a resource may be missing.
func (o *observer) missed(resource string, since time.Time, why error) {
	o.mends(resource)
	if o.same() {
		o.recorder.Append("watch", resource, record.Losing(since, why, record.ObjectObserved{}).Over())
	}
}

// breaks notes that the watch of a resource can't go on.
func (o *observer) breaks(resource string, since time.Time, why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken[resource] = record.Losing(since, fmt.Errorf("watching %s: %w", resource, why), record.ObjectObserved{})
}

// mends notes that it does.
func (o *observer) mends(resource string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.broken, resource)
}

// unservedBy is unserved, unless another process answers than the one that is observed: that one has an observer of its own.
func (o *observer) unservedBy(r schema.GroupVersionResource) {
	if o.same() {
		o.unserved(r)
	}
}

// unserved ends the watch of a resource that is not served, and has it looked for.
func (o *observer) unserved(r schema.GroupVersionResource) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if end := o.resources[r]; end != nil {
		end()
	}
	o.resources[r] = nil
	for _, object := range o.seen.Unserved(r.Resource) {
		o.record(object.Subject, object.ObjectObserved)
	}
}

// servedPoll is how often resources are looked for that are not served.
const servedPoll = time.Second

// await begins to watch resources once they are served.
func (o *observer) await() {
	wait.UntilWithContext(o.ctx, func(ctx context.Context) {
		for _, r := range o.awaited() {
			if _, err := o.client.Resource(r).List(ctx, metav1.ListOptions{Limit: 1}); err == nil {
				o.served(ctx, r)
			}
		}
	}, servedPoll)
}

// served watches a resource that is served again. If that is over before all is seen, it is looked for again.
func (o *observer) served(ctx context.Context, r schema.GroupVersionResource) {
	ctx, cancel := context.WithTimeout(ctx, backLimit)
	defer cancel()
	if err := o.watch(ctx, []schema.GroupVersionResource{r}); err != nil {
		o.unserved(r)
	}
}

// awaited are the resources that are not served.
func (o *observer) awaited() (all []schema.GroupVersionResource) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for r, end := range o.resources {
		if end == nil {
			all = append(all, r)
		}
	}
	return all
}

// recordMissing records as deleted what an earlier observer saw and this one does not.
func (o *observer) recordMissing() {
	for _, gone := range o.seen.Missing() {
		o.record(gone.Subject, gone.ObjectObserved)
	}
}
