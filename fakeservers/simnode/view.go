package simnode

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// observed is what the runtime has of a pod, the newest first.
type observed struct {
	sandboxes  []*cri.PodSandboxStatus
	containers []container
}

// container is one attempt at a container of a pod.
type container struct {
	*cri.ContainerStatus
	sandbox string
	layer   uint64 // bytes of files that it has made, as long as it runs
}

func (o observed) empty() bool { return len(o.sandboxes)+len(o.containers) == 0 }

// orphan is what is known of a pod from the runtime alone.
func (o observed) orphan(uid types.UID) *corev1.Pod {
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}}
	for _, s := range o.sandboxes {
		object.Namespace, object.Name = s.GetMetadata().GetNamespace(), s.GetMetadata().GetName()
	}
	return object
}

func (c container) running() bool { return c.State == cri.ContainerState_CONTAINER_RUNNING }
func (c container) exited() bool  { return c.State == cri.ContainerState_CONTAINER_EXITED }

// failure is why something could not be begun, and when it is tried again.
type failure struct {
	error
	backoff
}

// view is all that the status of a pod, and what is to be done for it, depend on.
type view struct {
	pod      *corev1.Pod
	gone     bool // from its source
	previous corev1.PodStatus
	seen     observed
	// failures are by container; that of the sandbox is "".
	failures map[string]failure
	runtime  string // its name
	host     netip.Addr
	now      time.Time
}

// deleted reports whether the pod is to be taken down.
func (v view) deleted() bool { return v.gone || v.pod.DeletionTimestamp != nil }

// over reports whether nothing of the pod is to run any more.
func (v view) over() bool { return v.deleted() || v.evicted() || terminal(v.previous.Phase) }

func terminal(p corev1.PodPhase) bool { return p == corev1.PodSucceeded || p == corev1.PodFailed }

// sandbox returns the sandbox that containers are to run in, or nil.
func (v view) sandbox() *cri.PodSandboxStatus {
	if s := v.seen.sandboxes; len(s) > 0 && s[0].State == cri.PodSandboxState_SANDBOX_READY {
		return s[0]
	}
	return nil
}

// attempts returns the containers of a name, the newest first.
func (v view) attempts(name string) []container {
	return slices.DeleteFunc(slices.Clone(v.seen.containers), func(c container) bool { return c.Metadata.Name != name })
}

// newest returns the last container of a name.
func (v view) newest(name string) (last container, found bool) {
	for _, c := range v.seen.containers {
		if c.Metadata.Name == name {
			return c, true
		}
	}
	return container{}, false
}

// before is the status that a container had.
func (v view) before(name string) corev1.ContainerStatus {
	for _, s := range slices.Concat(v.previous.InitContainerStatuses, v.previous.ContainerStatuses) {
		if s.Name == name {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

func (v view) isInit(c corev1.Container) bool {
	return !sidecar(c) && slices.ContainsFunc(v.pod.Spec.InitContainers, func(i corev1.Container) bool { return i.Name == c.Name })
}

func (v view) isSidecar(name string) bool {
	return slices.ContainsFunc(v.pod.Spec.InitContainers, func(i corev1.Container) bool { return i.Name == name && sidecar(i) })
}

// sidecar reports whether an init container is one that goes on running. Others
// may have a restart policy of their own, too.
func sidecar(c corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// completed reports whether an init container has done its work in the newest
// sandbox: in another, it has to be done again.
func (v view) completed(c corev1.Container) bool {
	last, found := v.newest(c.Name)
	boxes := v.seen.sandboxes
	return found && last.exited() && last.ExitCode == 0 && len(boxes) > 0 && last.sandbox == boxes[0].Id
}

// initialized reports whether all containers may run.
func (v view) initialized() bool {
	if len(v.seen.sandboxes) == 0 && v.over() {
		return conditionOf(v.previous, corev1.PodInitialized).Status == corev1.ConditionTrue
	}
	for _, c := range v.pod.Spec.InitContainers {
		last, found := v.newest(c.Name)
		if started := found && last.StartedAt > 0; sidecar(c) && !started || v.isInit(c) && !v.completed(c) {
			return false
		}
	}
	return true
}

// restarts reports whether a container that has exited is to run again.
func (v view) restarts(c corev1.Container, last container) bool {
	policy := cmp.Or(v.pod.Spec.RestartPolicy, corev1.RestartPolicyAlways)
	if c.RestartPolicy != nil {
		policy = corev1.RestartPolicy(*c.RestartPolicy)
	}
	switch {
	case v.over():
		return false
	case last.Annotations[hashKey] != hash(c):
		return true
	case v.isInit(c):
		return !v.completed(c) && (last.ExitCode == 0 || policy != corev1.RestartPolicyNever)
	case policy == corev1.RestartPolicyOnFailure:
		return last.ExitCode != 0
	default:
		return policy == corev1.RestartPolicyAlways
	}
}

// longRun is how long a container has to run for its earlier ends to be forgotten.
const longRun = 2 * longestWait

// due is when a container that has exited is to run again.
func (v view) due(c corev1.Container, last container) time.Time {
	if last.Annotations[hashKey] != hash(c) {
		return time.Time{}
	}
	wait := firstWait
	if time.Duration(last.FinishedAt-last.StartedAt) < longRun {
		wait = min(firstWait<<min(last.Metadata.Attempt, 10), longestWait)
	}
	return time.Unix(0, last.FinishedAt).Add(wait)
}

// attempt is the number of the next run of a container.
func (v view) attempt(name string) uint32 {
	if last, found := v.newest(name); found {
		return last.Metadata.Attempt + 1
	}
	if b := v.before(name); b.ContainerID != "" {
		return uint32(b.RestartCount) + 1 //nolint:gosec // a count is not negative
	}
	return 0
}

// hash identifies what of a container can't change without a restart.
func hash(c corev1.Container) string {
	h := fnv.New32a()
	fmt.Fprint(h, c.Name, " ", c.Image)
	return fmt.Sprintf("%x", h.Sum32())
}
