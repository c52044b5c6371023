package ask

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Status is how a pod is, in a word: its phase, or why it is not as it should be,
// as in CrashLoopBackOff, ImagePullBackOff, Error, Evicted, Init:1/2, Terminating.
func Status(p *corev1.Pod) string {
	if p.DeletionTimestamp != nil {
		return "Terminating"
	}
	if why := initializing(p); why != "" {
		return "Init:" + why
	}
	for _, c := range p.Status.ContainerStatuses {
		if why := wrong(c); why != "" {
			return why
		}
	}
	return cmp.Or(p.Status.Reason, completed(p), string(p.Status.Phase), none)
}

// initializing says how far the init containers are, as long as one of them has to
// end. Sidecars don't: the next one starts when they have.
func initializing(p *corev1.Pod) string {
	beside, all := sidecars(p), len(p.Status.InitContainerStatuses)
	for i, c := range p.Status.InitContainerStatuses {
		switch {
		case c.State.Terminated != nil && c.State.Terminated.ExitCode == 0:
		case beside[c.Name] && c.Started != nil && *c.Started:
		case wrong(c) != "":
			return wrong(c)
		default:
			return fmt.Sprintf("%d/%d", i, all)
		}
	}
	return ""
}

// wrong says why a container doesn't run. It is empty for one that runs, has ended
// well, or waits for its turn.
func wrong(c corev1.ContainerStatus) string {
	if w := c.State.Waiting; w != nil && w.Reason != "PodInitializing" {
		return w.Reason
	}
	t := c.State.Terminated
	switch {
	case t == nil || t.ExitCode == 0 && t.Signal == 0:
		return ""
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	default:
		return fmt.Sprintf("ExitCode:%d", t.ExitCode)
	}
}

// completed is Completed where all containers have ended, and nothing is wrong.
func completed(p *corev1.Pod) string {
	runs := func(c corev1.ContainerStatus) bool { return c.State.Terminated == nil }
	if len(p.Status.ContainerStatuses) == 0 || slices.ContainsFunc(p.Status.ContainerStatuses, runs) {
		return ""
	}
	return "Completed"
}
