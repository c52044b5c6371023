package simnode

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// phase follows from the status of the containers. The last one is kept. A pod that
// is evicted has failed when its containers have ended, however they have.
func (v view) phase(s corev1.PodStatus) corev1.PodPhase {
	switch {
	case terminal(v.previous.Phase):
		return v.previous.Phase
	case v.evicted() && !slices.ContainsFunc(v.seen.containers, container.running):
		return corev1.PodFailed
	}
	for i, c := range v.pod.Spec.InitContainers {
		// An init container that is not run again has the pod fail.
		last, found := v.newest(c.Name)
		if found && last.exited() && v.isInit(c) && s.InitContainerStatuses[i].State.Terminated != nil && last.ExitCode != 0 && !v.restarts(c, last) {
			return v.ended(s)
		}
	}
	unstarted, active := false, false
	for i, c := range v.pod.Spec.Containers {
		state, last := s.ContainerStatuses[i].State, s.ContainerStatuses[i].LastTerminationState
		attempt, found := v.newest(c.Name)
		unstarted = unstarted || state.Waiting != nil && last.Terminated == nil
		active = active || state.Running != nil || state.Waiting != nil && last.Terminated != nil ||
			found && attempt.exited() && v.restarts(c, attempt)
	}
	switch {
	case unstarted && !v.deleted(), !v.initialized() && !v.deleted():
		return corev1.PodPending
	case active:
		return corev1.PodRunning
	default:
		return v.ended(s)
	}
}

// ended is the phase of a pod of which nothing is to run any more. One that is
// taken down before its init containers are done goes on until they have ended.
func (v view) ended(s corev1.PodStatus) corev1.PodPhase {
	phase := corev1.PodSucceeded
	for _, c := range slices.Concat(s.InitContainerStatuses, s.ContainerStatuses) {
		switch ended := c.State.Terminated; {
		case v.isSidecar(c.Name):
		case c.State.Running != nil:
			return corev1.PodPending
		case ended == nil || ended.ExitCode != 0:
			phase = corev1.PodFailed
		}
	}
	return phase
}

// conditions are those that are the node's to set. One whose status stays the same
// keeps the time of its last transition.
func (v view) conditions(s corev1.PodStatus) []corev1.PodCondition {
	unready, done := v.unready(s), ""
	switch {
	case s.Phase == corev1.PodSucceeded:
		done = "PodCompleted"
	case s.Phase == corev1.PodFailed:
		done = "PodFailed"
	case len(unready) > 0:
		done = "ContainersNotReady"
	}
	message := ""
	if len(unready) > 0 {
		message = "not ready: " + strings.Join(unready, ", ")
	}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: is(done == ""), Reason: done, Message: message}
	containers := ready
	containers.Type = corev1.ContainersReady
	if closed := v.closedGates(); done == "" && len(closed) > 0 {
		ready.Status, ready.Reason, ready.Message = corev1.ConditionFalse, "ReadinessGatesNotReady", "not met: "+strings.Join(closed, ", ")
	}
	initialized := corev1.PodCondition{Type: corev1.PodInitialized, Status: is(v.initialized())}
	if initialized.Status == corev1.ConditionFalse {
		initialized.Reason = "ContainersNotInitialized"
	}
	all := []corev1.PodCondition{
		{Type: corev1.PodReadyToStartContainers, Status: is(v.sandbox() != nil && s.PodIP != "")},
		initialized, ready, containers,
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
	}
	for i := range all {
		all[i].ObservedGeneration, all[i].LastTransitionTime = v.pod.Generation, stamp(v.now)
		if before := conditionOf(v.previous, all[i].Type); before.Status == all[i].Status {
			all[i].LastTransitionTime = before.LastTransitionTime
		}
	}
	return all
}

func is(so bool) corev1.ConditionStatus {
	if so {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// conditionOf returns a condition, or an empty one.
func conditionOf(s corev1.PodStatus, t corev1.PodConditionType) corev1.PodCondition {
	for _, c := range s.Conditions {
		if c.Type == t {
			return c
		}
	}
	return corev1.PodCondition{}
}

// unready returns the names of the containers that should be ready and are not.
func (v view) unready(s corev1.PodStatus) []string {
	var names []string
	for _, c := range slices.Concat(s.InitContainerStatuses, s.ContainerStatuses) {
		main := slices.ContainsFunc(v.pod.Spec.Containers, func(m corev1.Container) bool { return m.Name == c.Name })
		if !c.Ready && (main || v.isSidecar(c.Name)) {
			names = append(names, c.Name)
		}
	}
	return names
}

// closedGates returns the readiness gates that others have not opened.
func (v view) closedGates() []string {
	var closed []string
	for _, g := range v.pod.Spec.ReadinessGates {
		if conditionOf(v.pod.Status, g.ConditionType).Status != corev1.ConditionTrue {
			closed = append(closed, string(g.ConditionType))
		}
	}
	return closed
}
