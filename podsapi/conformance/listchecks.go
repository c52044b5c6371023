package conformance

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/reports"
)

const (
	// mirrorAnnotation is on the pod at the API server that stands for a static pod.
	mirrorAnnotation = "kubernetes.io/config.mirror"
	// sourceAnnotation says where a kubelet has a pod from: api, or else file or http.
	sourceAnnotation = "kubernetes.io/config.source"
)

var listChecks = []check{
	{
		"lists", "list/all-pods", "ListPods returns pods, each once and with its name and UID", []need{socket, served},
		func(r Record) (reports.Outcome, string) {
			if r.Before.Code != ok {
				return reports.Fail, fmt.Sprintf("%s: %s", r.Before.Code, r.Before.Message)
			}
			return none(append(each(r.Before.Pods, unnamed), repeated(r.Before.Pods)...), counted(r.Before))
		},
	},
	{
		"pods-are-whole", "list/full-spec-and-status", "every pod has metadata, a spec with containers, and a status", whenPods,
		func(r Record) (reports.Outcome, string) {
			return none(each(r.Before.Pods, notWhole), counted(r.Before))
		},
	},
	{
		"static-pods-themselves", "list/no-mirror-pods", "static pods are returned, and no mirror pods", append(slices.Clone(whenPods), static),
		func(r Record) (reports.Outcome, string) { return none(each(r.Before.Pods, mirror), counted(r.Before)) },
	},
	{
		"no-partial-data", "state/no-partial-data", "every pod has a phase; a pod that runs or has ended has the status of each container", whenPods,
		func(r Record) (reports.Outcome, string) { return none(each(r.Before.Pods, partial), counted(r.Before)) },
	},
}

func counted(a Answer) string { return reports.Counted(len(a.Pods), "pod") }

// static: there are static pods, or mirror pods, which there may not be.
var static = need{reports.NotApplicable, func(r Record) string {
	if slices.ContainsFunc(r.Before.Pods, func(p Pod) bool {
		source := p.Annotations[sourceAnnotation]
		return mirror(p) != "" || source != "" && source != "api"
	}) {
		return ""
	}
	return "there are no static pods on this node"
}}

// each gathers what is wrong with pods.
func each(pods []Pod, wrong func(Pod) string) (complaints []string) {
	for _, p := range pods {
		if what := wrong(p); what != "" {
			complaints = append(complaints, fmt.Sprintf("pod %s %s", p.name(), what))
		}
	}
	return complaints
}

func repeated(pods []Pod) (complaints []string) {
	times := make(map[string]int)
	for _, p := range pods {
		times[string(p.UID)]++
	}
	for _, uid := range names(times) {
		if times[uid] > 1 && uid != "" {
			complaints = append(complaints, fmt.Sprintf("the UID %s occurs %d times", uid, times[uid]))
		}
	}
	return complaints
}

func unnamed(p Pod) string {
	switch {
	case p.Unreadable != "":
		return "is no pod: " + p.Unreadable
	case p.Name == "" || p.UID == "":
		return "has no name or no UID"
	}
	return ""
}

func notWhole(p Pod) string {
	switch {
	case unnamed(p) != "":
		return unnamed(p)
	case p.Namespace == "":
		return "has no namespace"
	case len(p.Spec.Containers) == 0:
		return "has no containers in its spec"
	case p.Status.Phase == "":
		return "has no phase"
	}
	return ""
}

func mirror(p Pod) string {
	if _, is := p.Annotations[mirrorAnnotation]; is {
		return "is a mirror pod"
	}
	return ""
}

// partial says what is missing of the state of a pod. One that is pending, or was
// refused, need not have containers.
func partial(p Pod) string {
	known := []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed}
	switch {
	case !slices.Contains(known, p.Status.Phase):
		return fmt.Sprintf("has the phase %q", p.Status.Phase)
	case p.Status.Phase == corev1.PodPending || p.Status.Phase == corev1.PodFailed:
		return ""
	}
	for _, c := range p.Spec.Containers {
		if !slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
			return s.Name == c.Name && s.State != corev1.ContainerState{}
		}) {
			return fmt.Sprintf("is %s and has no status of its container %s", p.Status.Phase, c.Name)
		}
	}
	return ""
}
