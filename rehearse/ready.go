package rehearse

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// hasPods reports whether an object is a pod, or has a template of pods.
func (i Item) hasPods() bool { return kube.PodSpec(i.Manifest) != nil }

// notReadyBy is what an object says of why it is not ready: "1 of 3 pods are ready". It is empty if it is, or does not say.
func notReadyBy(object map[string]any) string {
	number := func(path ...string) int64 {
		n, _, _ := unstructured.NestedInt64(object, path...)
		return n
	}
	of := func(ready, wanted int64) string {
		if ready >= wanted {
			return ""
		}
		return fmt.Sprintf("%d of %d pods are ready", ready, wanted)
	}
	switch object["kind"] {
	case "Deployment", "StatefulSet", "ReplicaSet", "ReplicationController":
		return of(number("status", "readyReplicas"), number("spec", "replicas"))
	case "DaemonSet":
		return of(number("status", "numberReady"), number("status", "desiredNumberScheduled"))
	case "Job":
		suspended, _, _ := unstructured.NestedBool(object, "spec", "suspend")
		if suspended || number("status", "succeeded") > 0 {
			return ""
		}
		return "it has not completed"
	case "Pod":
		phase, _, _ := unstructured.NestedString(object, "status", "phase")
		if phase == "Running" || phase == "Succeeded" {
			return ""
		}
		return "its phase is " + phase
	case "PersistentVolumeClaim":
		phase, _, _ := unstructured.NestedString(object, "status", "phase")
		if phase == "Bound" {
			return ""
		}
		return "its phase is " + phase
	default:
		return ""
	}
}

// podOf says why a pod of an object is not ready, as the pod was when a stage ended. It is empty if nothing is known.
func (s Seen) podOf(i Item, stage *StageSeen) string {
	last := make(map[string]*timeline.Version)
	for _, v := range s.Subject.Versions {
		if v.Resource == "pods" && i.owns(v.Namespace+"/"+v.Name) && v.Time.Before(stage.Ended) {
			last[v.Name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if why := waitsFor(last[name]); why != "" {
			return why
		}
	}
	return ""
}

// waitsFor says what a pod waits for.
func waitsFor(v *timeline.Version) string {
	if v.Gone() {
		return ""
	}
	for _, c := range v.Pod().Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	for _, c := range v.ContainerStatuses() {
		switch {
		case c.State.Waiting != nil:
			return strings.TrimSpace(fmt.Sprintf("container %s: %s %s", c.Name, c.State.Waiting.Reason, c.State.Waiting.Message))
		case c.State.Running != nil && !c.Ready:
			return fmt.Sprintf("container %s is not ready", c.Name)
		}
	}
	return ""
}
