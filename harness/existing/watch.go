package existing

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/skewrig/skewrig/harness/watched"
	"github.com/skewrig/skewrig/record"
)

// Watched says what goes into a record.
type Watched struct {
	// Namespaces are those whose objects do, and Resources are of which resources.
	Namespaces []string
	Resources  []schema.GroupVersionResource
	// Nodes are the names of nodes. What a report says of them is what Kubernetes says of any
	// node: not their labels, addresses or images.
	Nodes []string
	// Whole has all that nodes say recorded, and events about them. If unset, what is no secret of their cluster.
	Whole bool
	// Containers has what the status of pods says of containers recorded as what happened to
	// them, as a container runtime of a rig does.
	Containers bool
	// Waits says that the Recorder waits for how containers ended. If unset, a status of a pod that leaves
	// it out is a loss.
	Waits bool
	// Recorder takes the objects, and a loss while they can't be watched.
	Recorder record.Recorder
	// Seen has what earlier watches of the same have recorded, which is recorded again only if it
	// looks different. If unset, there were none.
	Seen *watched.Seen
}

// watcher records the objects that an API server shows.
type watcher struct {
	Watched
	containers *containers // nil: nothing is made of their status

	recording sync.Mutex // what is made of a pod follows it
}

// Watch records objects, and returns when it has seen what is there. stop ends it, and returns
// when it has ended.
func (c *Cluster) Watch(ctx context.Context, what Watched) (stop func(), err error) {
	client, err := dynamic.NewForConfig(c.rest)
	if err != nil {
		return nil, err
	}
	w := &watcher{Watched: what}
	w.Seen = cmp.Or(w.Seen, watched.NewSeen())
	w.Seen.Again()
	if what.Containers {
		w.containers = newContainers(time.Now())
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	stop = sync.OnceFunc(func() {
		end()
		tasks.Wait()
	})
	var synced []<-chan struct{}
	add := func(namespace string, tweak func(*metav1.ListOptions), resources ...schema.GroupVersionResource) {
		for _, r := range resources {
			source := w.source(client.Resource(r).Namespace(namespace), r.Resource, namespace)
			source.Tweak = tweak
			synced = append(synced, w.Seen.Record(running, &tasks, source, r.Resource, w.view(r.Resource), w.record))
		}
	}
	for _, namespace := range what.Namespaces {
		add(namespace, nil, what.Resources...)
	}
	for _, node := range what.Nodes {
		add(metav1.NamespaceAll, only("metadata.name", node), corev1.SchemeGroupVersion.WithResource(nodes))
		if what.Whole {
			add(metav1.NamespaceDefault, only("involvedObject.name", node), corev1.SchemeGroupVersion.WithResource("events"))
		}
	}
	if err := watched.Await(ctx, synced...); err != nil {
		stop()
		return nil, fmt.Errorf("watching objects: %w", err)
	}
	for _, gone := range w.Seen.Missing() {
		w.record(gone.Subject, gone.ObjectObserved)
	}
	tasks.Go(func() {
		w.ask(running, func(ctx context.Context) error {
			_, err := c.readVersion(ctx)
			return err
		})
	})
	return stop, nil
}

// only selects objects by a field.
func only(field, value string) func(*metav1.ListOptions) {
	return func(o *metav1.ListOptions) { o.FieldSelector = fields.OneTermEqualSelector(field, value).String() }
}

// askPause is how long there is between two questions whether the API server is there, and askAgain after the first one
// without an answer.
const askPause, askAgain = 2 * time.Second, 100 * time.Millisecond

// ask asks again and again whether the API server is there: a watch is patient, and says nothing while it is not. That two
// questions in a row have no answer is a loss, since the last answer until the next one. It ends with ctx, after which
// nothing is lost.
func (w *watcher) ask(ctx context.Context, whether func(context.Context) error) {
	answered, missed, pause := time.Now(), 0, askPause
	var lost []record.ObservationLost
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		asked := time.Now()
		limited, cancel := context.WithTimeout(ctx, answerLimit)
		err := whether(limited)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			for _, l := range lost {
				w.Recorder.Append("watch", "", l.Over())
			}
			answered, missed, pause, lost = asked, 0, askPause, nil
		case missed == 0: // one may be late on a machine that is slow
			missed, pause = 1, askAgain
		case lost == nil:
			pause, lost = askPause, w.losing(answered, fmt.Errorf("asking whether the API server is there: %w", err))
			for _, l := range lost {
				w.Recorder.Append("watch", "", l)
			}
		}
	}
}

// losing are the losses of all that is watched.
func (w *watcher) losing(since time.Time, why error) []record.ObservationLost {
	lost := []record.ObservationLost{record.Losing(since, why, record.ObjectObserved{})}
	if w.containers != nil {
		lost = append(lost, losingContainers(since, why))
	}
	return lost
}

const (
	nodes = "nodes"
	pods  = "pods"
)

// source is where objects of a resource are from. That a watch has to begin again, or can't go on, is a loss of what was
// to be seen there; a cell whose checks need nothing of it goes on.
func (w *watcher) source(client dynamic.ResourceInterface, resource, namespace string) *watched.Source {
	lose := func(since time.Time, why error, end func(record.ObservationLost) record.ObservationLost) {
		why = fmt.Errorf("watching %s: %w", resource, why)
		w.Recorder.Append("watch", strings.TrimSuffix(resource+"/"+namespace, "/"), end(record.Losing(since, why, record.ObjectObserved{})))
		if resource == pods && w.containers != nil {
			w.Recorder.Append("watch", namespace, end(losingContainers(since, why)))
		}
	}
	over := func(since time.Time, why error) { lose(since, why, record.ObservationLost.Over) }
	lasts := func(since time.Time, why error) {
		lose(since, why, func(l record.ObservationLost) record.ObservationLost { return l })
	}
	return &watched.Source{Client: watched.ClientOf(client), Missed: over, Mended: over, Broken: lasts}
}

// view returns the function for what is recorded of an object of a resource, or nil where all is.
func (w *watcher) view(resource string) watched.View {
	if resource == nodes && !w.Whole {
		return ofAnyNode
	}
	return nil
}

func (w *watcher) record(subject string, event record.ObjectObserved) {
	w.recording.Lock()
	defer w.recording.Unlock()
	w.Recorder.Append("watch", subject, event)
	if event.Resource != pods || w.containers == nil {
		return
	}
	for _, h := range w.containers.see(strings.TrimPrefix(subject, pods+"/"), event.Object, event.Change == record.Deleted) {
		if _, isLoss := h.payload.(record.ObservationLost); !isLoss || !w.Waits {
			w.Recorder.Append("watch", h.subject, h.payload)
		}
	}
}

// ofAnyNode is what of a node is no secret of its cluster: its name, its zone, its conditions, and
// which releases it runs.
func ofAnyNode(node *unstructured.Unstructured) *unstructured.Unstructured {
	kept := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node"}}
	kept.SetName(node.GetName())
	kept.SetUID(node.GetUID())
	kept.SetResourceVersion(node.GetResourceVersion())
	kept.SetCreationTimestamp(node.GetCreationTimestamp())
	if zone, has := node.GetLabels()[corev1.LabelTopologyZone]; has {
		kept.SetLabels(map[string]string{corev1.LabelTopologyZone: zone})
	}
	for _, path := range [][]string{
		{"status", "conditions"}, {"status", "nodeInfo", "kubeletVersion"}, {"status", "nodeInfo", "containerRuntimeVersion"},
		{"status", "nodeInfo", "kernelVersion"}, {"status", "nodeInfo", "operatingSystem"}, {"status", "nodeInfo", "osImage"}, {"status", "nodeInfo", "architecture"},
	} {
		if value, has, err := unstructured.NestedFieldCopy(node.Object, path...); has && err == nil {
			_ = unstructured.SetNestedField(kept.Object, value, path...) // there is nothing else at the path
		}
	}
	return kept
}
