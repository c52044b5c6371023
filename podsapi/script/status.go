package script

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// phases are those that a pod may have.
var phases = []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed}

// checkState returns what is wrong with a state, if anything.
func (l *life) checkState() error {
	switch {
	case !slices.Contains(phases, l.phase):
		return fmt.Errorf("%q is not a phase: phases are Pending, Running, Succeeded and Failed", l.phase)
	case l.ready && l.phase != corev1.PodRunning:
		return fmt.Errorf("pod %s is %s: only a running pod can be ready", l.name(), l.phase)
	case l.restarts < 0:
		return fmt.Errorf("%d is not a number of restarts", l.restarts)
	}
	return nil
}

// shown is the pod as a kubelet would serve it.
func (l *life) shown() *corev1.Pod {
	pod := l.pod.DeepCopy()
	if l.own {
		return pod
	}
	began := metav1.NewTime(l.began)
	pod.Status.Phase, pod.Status.StartTime = l.phase, &began
	pod.Status.Reason, pod.Status.Message = "", ""
	pod.Status.Conditions = l.conditions()
	pod.Status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, l.container(c))
	}
	return pod
}

func (l *life) conditions() (all []corev1.PodCondition) {
	for _, c := range []struct {
		kind corev1.PodConditionType
		is   bool
	}{
		{corev1.PodScheduled, true}, {corev1.PodInitialized, l.phase != corev1.PodPending},
		{corev1.ContainersReady, l.ready}, {corev1.PodReady, l.ready},
	} {
		condition := corev1.PodCondition{Type: c.kind, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(l.began)}
		if c.is {
			condition.Status = corev1.ConditionTrue
		}
		if c.kind == corev1.ContainersReady || c.kind == corev1.PodReady {
			condition.LastTransitionTime = metav1.NewTime(l.changed)
		}
		all = append(all, condition)
	}
	return all
}

// container is how a container of the pod is.
func (l *life) container(c corev1.Container) corev1.ContainerStatus {
	started := l.phase == corev1.PodRunning
	s := corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, Ready: l.ready, Started: &started, RestartCount: l.restarts,
	}
	if l.phase != corev1.PodPending {
		s.ContainerID = "containerd://" + strings.ReplaceAll(string(l.pod.UID), "-", "") + fmt.Sprintf("%032x", l.restarts)
	}
	if l.restarts > 0 {
		s.LastTerminationState.Terminated = terminated(1, l.began, l.changed)
	}
	switch l.phase {
	case corev1.PodPending:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
	case corev1.PodSucceeded:
		s.State.Terminated = terminated(0, l.began, l.changed)
	case corev1.PodFailed:
		s.State.Terminated = terminated(1, l.began, l.changed)
	default:
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(l.began)}
	}
	return s
}

func terminated(exit int32, began, ended time.Time) *corev1.ContainerStateTerminated {
	reason := "Completed"
	if exit != 0 {
		reason = "Error"
	}
	return &corev1.ContainerStateTerminated{
		ExitCode: exit, Reason: reason, StartedAt: metav1.NewTime(began), FinishedAt: metav1.NewTime(ended),
	}
}
