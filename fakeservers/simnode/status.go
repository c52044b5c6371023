package simnode

import (
	"cmp"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// status computes a pod's status.
func status(v view) corev1.PodStatus {
	if why := v.outgrown(); why != "" && !v.over() {
		v.previous.Reason, v.previous.Message = evicted, why
	}
	s := corev1.PodStatus{
		ObservedGeneration: v.pod.Generation,
		Reason:             v.previous.Reason,
		Message:            v.previous.Message,
		HostIP:             v.host.String(),
		HostIPs:            []corev1.HostIP{{IP: v.host.String()}},
		StartTime:          v.startTime(),
		QOSClass:           qosClass(v.pod),
	}
	if ip := v.podIP(); ip != "" {
		s.PodIP, s.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	}
	for _, c := range v.pod.Spec.InitContainers {
		s.InitContainerStatuses = append(s.InitContainerStatuses, v.containerStatus(c))
	}
	for _, c := range v.pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, v.containerStatus(c))
	}
	s.Phase = v.phase(s)
	s.Conditions = v.conditions(s)
	return merged(s, v.pod.Status)
}

// merged returns a node's status of a pod with what of it is the business of
// others.
func merged(mine, theirs corev1.PodStatus) corev1.PodStatus {
	mine.Conditions = slices.DeleteFunc(slices.Clone(mine.Conditions), func(c corev1.PodCondition) bool { return !own(c.Type) })
	for _, c := range theirs.Conditions {
		if !own(c.Type) {
			mine.Conditions = append(mine.Conditions, c)
		}
	}
	mine.QOSClass = cmp.Or(theirs.QOSClass, mine.QOSClass) // the API server lets nobody change it
	mine.ResourceClaimStatuses = theirs.ResourceClaimStatuses
	mine.ExtendedResourceClaimStatus = theirs.ExtendedResourceClaimStatus
	return mine
}

// own reports whether a condition is the node's to set.
func own(c corev1.PodConditionType) bool {
	switch c {
	case corev1.PodScheduled, corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady:
		return true
	}
	return false
}

// stamp is a time as the API has it, in whole seconds.
func stamp(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

func stampOf(nanoseconds int64) metav1.Time { return stamp(time.Unix(0, nanoseconds)) }

// startTime is when the node took up the pod, as far as it knows.
func (v view) startTime() *metav1.Time {
	if v.previous.StartTime != nil {
		return v.previous.StartTime
	}
	start := stamp(v.now)
	if boxes := v.seen.sandboxes; len(boxes) > 0 {
		start = stampOf(boxes[len(boxes)-1].CreatedAt)
	}
	return &start
}

// podIP is the pod's address. One that has had its day keeps it.
func (v view) podIP() string {
	switch s := v.sandbox(); {
	case s == nil && v.over():
		return v.previous.PodIP
	case s == nil:
		return ""
	case v.pod.Spec.HostNetwork:
		return v.host.String()
	default:
		return s.GetNetwork().GetIp()
	}
}

func (v view) containerStatus(c corev1.Container) corev1.ContainerStatus {
	last, found := v.newest(c.Name)
	if !found {
		return v.unseen(c)
	}
	running := last.running()
	s := corev1.ContainerStatus{
		Name: c.Name, Image: last.GetImage().GetImage(), ImageID: last.ImageRef, ContainerID: v.containerID(last),
		RestartCount: int32(last.Metadata.Attempt), Ready: running && !v.isInit(c), Started: &running, //nolint:gosec // no container runs that often
	}
	if all := v.attempts(c.Name); len(all) > 1 {
		s.LastTerminationState.Terminated = v.terminated(all[1])
	}
	switch {
	case running:
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: stampOf(last.StartedAt)}
	case !last.exited():
		s.State.Waiting = v.waiting(c)
	case v.loops(c, last):
		s.LastTerminationState.Terminated = v.terminated(last)
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "it is run again after a while"}
		if v.failures[c.Name].error != nil {
			s.State.Waiting = v.waiting(c)
		}
	default:
		s.State.Terminated = v.terminated(last)
		s.Ready = v.isInit(c) && last.ExitCode == 0
	}
	return s
}

// loops reports whether a container waits to be run again, for longer than after
// its first end: that is shown as an end first.
func (v view) loops(c corev1.Container, last container) bool {
	again := last.Metadata.Attempt > 0 && v.now.Before(v.due(c, last))
	return v.restarts(c, last) && (again || v.failures[c.Name].error != nil)
}

func (v view) containerID(c container) string { return v.runtime + "://" + c.Id }

func (v view) terminated(c container) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ExitCode: c.ExitCode, Reason: c.Reason, Message: c.Message, ContainerID: v.containerID(c),
		StartedAt: stampOf(c.StartedAt), FinishedAt: stampOf(c.FinishedAt),
	}
}

// waiting says why a container has not started.
func (v view) waiting(c corev1.Container) *corev1.ContainerStateWaiting {
	if err := v.failures[c.Name].error; err != nil {
		reason := "CreateContainerError"
		if r, ok := errors.AsType[*refusal](err); ok {
			reason = r.reason
		}
		return &corev1.ContainerStateWaiting{Reason: reason, Message: err.Error()}
	}
	_, begun := v.newest(c.Name)
	if len(v.pod.Spec.InitContainers) > 0 && !begun && !v.initialized() {
		return &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
	}
	return &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
}

// unseen is the status of a container that the runtime doesn't know: not yet, or
// not any more.
func (v view) unseen(c corev1.Container) corev1.ContainerStatus {
	before := v.before(c.Name)
	switch known := before.ContainerID != ""; {
	case known && v.over() && before.State.Terminated != nil:
		return before
	case known && v.over():
		started := false
		before.Ready, before.Started = false, &started
		before.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 137, Reason: "ContainerStatusUnknown", Message: "it was not there any more when it was looked for",
		}}
		return before
	}
	started := false
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, RestartCount: before.RestartCount, Started: &started,
		State: corev1.ContainerState{Waiting: v.waiting(c)},
	}
}
