package ask

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// none stands for what a pod doesn't have, or its mask leaves out.
const none = "<none>"

// sourceAnnotation says where a kubelet has a pod from. That of the API server is
// called api.
const sourceAnnotation = "kubernetes.io/config.source"

// header are the columns.
var header = []string{"NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "SOURCE", "UID"}

func columns(p *corev1.Pod, now time.Time) []string {
	return []string{
		cmp.Or(p.Namespace, none), cmp.Or(p.Name, none), ready(p), Status(p), restarts(p), age(p, now),
		cmp.Or(p.Annotations[sourceAnnotation], none), cmp.Or(string(p.UID), none),
	}
}

// sidecars are the names of the init containers that run beside the others.
func sidecars(p *corev1.Pod) map[string]bool {
	names := make(map[string]bool)
	for _, c := range p.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			names[c.Name] = true
		}
	}
	return names
}

// ready is how many containers are ready, of how many.
func ready(p *corev1.Pod) string {
	beside := sidecars(p)
	all, well := len(p.Spec.Containers)+len(beside), 0
	for i, c := range slices.Concat(p.Status.ContainerStatuses, p.Status.InitContainerStatuses) {
		if c.Ready && (i < len(p.Status.ContainerStatuses) || beside[c.Name]) {
			well++
		}
	}
	if all == 0 {
		return none
	}
	return fmt.Sprintf("%d/%d", well, all)
}

func restarts(p *corev1.Pod) string {
	statuses := slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
	if len(statuses) == 0 {
		return none
	}
	var count int32
	for _, c := range statuses {
		count += c.RestartCount
	}
	return fmt.Sprint(count)
}

// age is how long a pod has been there. A static pod was not created at an API
// server, so that it counts from when the kubelet acknowledged it.
func age(p *corev1.Pod, now time.Time) string {
	switch {
	case !p.CreationTimestamp.IsZero():
		return duration.HumanDuration(now.Sub(p.CreationTimestamp.Time))
	case p.Status.StartTime != nil:
		return duration.HumanDuration(now.Sub(p.Status.StartTime.Time))
	default:
		return none
	}
}
