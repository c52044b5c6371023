package cluster

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/fakeservers/container/logged"
	"github.com/skewrig/skewrig/record"
)

// outputs follows what the played containers of a cell write, and puts it into its record, in one
// order with what is seen of objects.
type outputs struct {
	open   func(ctx context.Context, namespace, pod, container string, previous, follow bool) (io.ReadCloser, error)
	merger *logged.Merger

	ctx     context.Context //nolint:containedctx // ends what is followed
	cancel  context.CancelFunc
	reading sync.WaitGroup

	mu        sync.Mutex
	followers map[string]*follower // by the pod's UID and the container's name
	images    map[string]string    // those of the scenario, by "namespace/pod/container"
}

// silent is how long a container that runs may have nothing new in its output.
const silent = time.Minute

func newOutputs(cluster outputsOf, history *record.History) *outputs {
	o := &outputs{
		open: cluster.Log, merger: logged.NewMerger(history), followers: make(map[string]*follower), images: make(map[string]string),
	}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	o.reading.Go(o.listen)
	return o
}

// outputsOf is a cluster whose containers have output.
type outputsOf interface {
	Log(ctx context.Context, namespace, pod, container string, previous, follow bool) (io.ReadCloser, error)
}

// listen looks whether containers say something as long as they run.
func (o *outputs) listen() {
	for {
		select {
		case <-o.ctx.Done():
			return
		case <-time.After(time.Second):
		}
		o.merger.LoseSilent(silent)
	}
}

// close ends all following.
func (o *outputs) close() {
	o.cancel()
	o.reading.Wait()
}

var _ record.Recorder = (*outputs)(nil)

// Append implements record.Recorder, of what a watch sees.
func (o *outputs) Append(source, subject string, payload record.Payload) {
	switch p := payload.(type) {
	case record.ObjectObserved:
		if p.Resource == "pods" {
			o.see(p)
		}
	case record.ContainerStarted:
		if reference := o.image(subject); reference != "" {
			p.Image = reference
			payload = p
		}
	}
	o.merger.Append(source, subject, payload)
}

// image is the image that a container has in the scenario; empty if nothing plays it.
func (o *outputs) image(subject string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.images[subject]
}

// see begins to follow the containers of a pod that were started.
func (o *outputs) see(observed record.ObjectObserved) {
	var pod corev1.Pod
	if json.Unmarshal(observed.Object, &pod) != nil {
		return // it was decoded from JSON
	}
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses)
	for name, plays := range playsOf(&pod) {
		at := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == name })
		if at >= 0 {
			o.follower(&pod, plays).see(statuses[at], observed.Change == record.Deleted)
		}
	}
}

// playsOf is what the containers of a pod play, by their names.
func playsOf(pod *corev1.Pod) map[string]container.Plays {
	all := make(map[string]container.Plays)
	add := func(c corev1.Container) {
		for _, v := range c.Env {
			if plays, err := container.ParsePlays(v.Value); v.Name == container.Variable && err == nil {
				all[c.Name] = plays
			}
		}
	}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		add(c)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		add(corev1.Container(c.EphemeralContainerCommon))
	}
	return all
}

func (o *outputs) follower(pod *corev1.Pod, plays container.Plays) *follower {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := string(pod.UID) + "/" + plays.Container
	f := o.followers[key]
	if f == nil {
		f = &follower{
			outputs: o, namespace: pod.Namespace, pod: pod.Name, container: plays.Container, node: pod.Spec.NodeName,
			subject: pod.Namespace + "/" + pod.Name + "/" + plays.Container,
			log:     logged.NewLog(plays.Mark), runs: make(map[string]bool), changed: make(chan struct{}),
		}
		o.followers[key], o.images[f.subject] = f, plays.Reference
		o.reading.Go(f.follow)
	}
	return f
}
