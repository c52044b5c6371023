package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// shard is how it stands with a shard.
type shard struct {
	// Number counts from 1.
	Number int
	// Pod is the name of the pod that runs it, or ran it last. If unset, there is none yet.
	Pod string
	// Ready is true if its report is there, to be taken.
	Ready bool
	// State says how it stands: "waits: 0/2 nodes are available", "runs on node-a".
	State string
}

// shardsOf are those of a Job, by the pods that it has. Of several pods of one shard, the newest counts that is not
// going.
func shardsOf(number int, pods []corev1.Pod) []shard {
	all := make([]shard, number)
	for i := range all {
		all[i] = shard{Number: i + 1, State: "has no pod yet"}
	}
	pods = slices.Clone(pods)
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(gone(b), gone(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
	})
	for _, p := range pods {
		i, err := strconv.Atoi(p.Labels[batchv1.JobCompletionIndexAnnotation])
		if err == nil && i >= 0 && i < number {
			all[i].Pod, all[i].Ready, all[i].State = p.Name, isReady(p), state(p)
		}
	}
	return all
}

// gone is 1 for a pod that is going, or has failed.
func gone(p corev1.Pod) int {
	if p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodFailed {
		return 1
	}
	return 0
}

func isReady(p corev1.Pod) bool {
	return gone(p) == 0 && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// state says how it stands with a pod.
func state(p corev1.Pod) string {
	switch {
	case p.DeletionTimestamp != nil:
		return "its pod is deleted, and another one follows"
	case p.Status.Phase == corev1.PodFailed:
		return "failed on " + p.Spec.NodeName + because(failure(p))
	case p.Status.Phase == corev1.PodSucceeded:
		return "ended on " + p.Spec.NodeName
	case isReady(p):
		return "ended on " + p.Spec.NodeName + ", its report is there"
	case p.Status.Phase == corev1.PodRunning:
		return "runs on " + p.Spec.NodeName
	default:
		return "waits" + because(hindrance(p))
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// hindrance is why a pod does not run yet. It is empty if nothing hinders it.
func hindrance(p corev1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil && w.Message != "" {
			return w.Reason + ": " + w.Message
		}
	}
	return ""
}

// failure is why a pod failed.
func failure(p corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil {
			return strings.TrimSuffix(fmt.Sprintf("exit code %d, %s", t.ExitCode, t.Reason), ", ")
		}
	}
	return strings.Trim(p.Status.Reason+": "+p.Status.Message, ": ")
}

// ended says why a Job has no more pods. It is empty while it has.
func ended(job batchv1.Job) string {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailed || c.Type == batchv1.JobComplete) {
			return strings.Trim(c.Reason+": "+c.Message, ": ")
		}
	}
	return ""
}
