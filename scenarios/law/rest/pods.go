package rest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

var followsTemplate = Law{
	Breach:     "its metadata is not that of its template",
	Class:      "wrong field or answer",
	Components: []string{record.ControllerManager},
	Statement:  "A pod has the labels and annotations of the template that it was made from, and those of its controller.",
	Source:     "kubernetes/website, docs/concepts/workloads/pods/_index.md, Pod templates",
	judge: func(s *State, report reporter) {
		if len(s.record.Webhooks) > 0 {
			return // they may change pods
		}
		for _, resource := range []string{"replicasets", "statefulsets", "daemonsets", "jobs"} {
			for _, owner := range s.all(resource) {
				template := owner.Workload().Spec.Template
				if template == nil {
					continue
				}
				for _, p := range s.pods(owner) {
					if s.Written[p.Key] || s.Written[owner.Key] || p.going() || s.isAdopted(p) {
						continue
					}
					report := func(what string, is, wanted map[string]string) {
						for _, name := range slices.Sorted(maps.Keys(is)) {
							if _, has := wanted[name]; !has && !isOfController(name) {
								report(p.Version, "it has the %s %s, which the template of %s has not", what, name, owner.Key)
							}
						}
					}
					report("label", p.Meta().Labels, template.Labels)
					report("annotation", p.Meta().Annotations, template.Annotations)
				}
			}
		}
	},
}

// isAdopted reports whether a client made a pod that a controller took over.
func (s *State) isAdopted(p pod) bool {
	return slices.ContainsFunc(s.record.Answers, func(a *timeline.Answer) bool { return a.Created() && a.Object == p.Key })
}

// isOfController reports whether a key is one that controllers and kubelets write.
func isOfController(key string) bool {
	return strings.Contains(key, "kubernetes.io/") || slices.Contains([]string{
		appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, "pod-template-generation", "controller-uid", "job-name",
	}, key)
}

var starts = Law{
	Breach:     "it does not start although it has all that it needs",
	Class:      "pod or container never created",
	Components: []string{"kubelet"},
	Statement:  "A container is created once its pod is on a node and all that it refers to is there; the main ones once those before them have done their work.",
	Source:     "kubernetes/website, docs/concepts/workloads/pods/pod-lifecycle.md",
	judge: func(s *State, report reporter) {
		for _, v := range s.all("pods") {
			p := pod{v}
			if !p.active() || v.Pod().Spec.NodeName == "" || !s.isReadyNode(v.Pod().Spec.NodeName) {
				continue
			}
			if why := s.stuck(p); why != "" {
				report(v, "%s", why)
			}
		}
	},
}

func (s *State) isReadyNode(name string) bool {
	v := s.get("nodes", "", name)
	if v == nil {
		return false
	}
	for _, c := range timeline.As[corev1.Node](v).Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// stuck says why a container of a pod does not start, if there is no reason for that.
func (s *State) stuck(p pod) string {
	status := p.Pod().Status
	for _, c := range p.ContainerStatuses() {
		if c.State.Waiting == nil {
			continue
		}
		switch c.State.Waiting.Reason {
		case "CreateContainerConfigError", "CreateContainerError", "CreatePodSandboxError":
			if !s.lacks(p) {
				return fmt.Sprintf("container %s waits: %s: %s", c.Name, c.State.Waiting.Reason, c.State.Waiting.Message)
			}
			return ""
		}
	}
	if len(status.InitContainerStatuses) == 0 {
		return ""
	}
	for _, c := range status.InitContainerStatuses {
		started := c.Started != nil && *c.Started
		done := c.State.Terminated != nil && c.State.Terminated.ExitCode == 0
		if !done && (!isSidecar(p, c.Name) || !started || c.State.Running == nil) {
			return ""
		}
	}
	for _, c := range status.ContainerStatuses {
		if c.State.Waiting != nil && c.State.Waiting.Reason == "PodInitializing" {
			return fmt.Sprintf("container %s waits for init containers, which have all done their work", c.Name)
		}
	}
	return ""
}

func isSidecar(p pod, name string) bool {
	return slices.ContainsFunc(p.Pod().Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// lacks reports whether something that a pod refers to is not there, and has to be, or may be so.
func (s *State) lacks(p pod) bool {
	spec := p.Pod().Spec
	if spec.SecurityContext != nil && isTrue(spec.SecurityContext.RunAsNonRoot) {
		return true // the user of an image is not known
	}
	if slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Image != nil }) {
		return true // simulated images have no files
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if c.SecurityContext != nil && isTrue(c.SecurityContext.RunAsNonRoot) {
			return true
		}
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.SubPath+m.SubPathExpr != "" }) {
			return true // what is in a volume is not known
		}
		for _, from := range c.EnvFrom {
			if r := from.ConfigMapRef; r != nil && !isTrue(r.Optional) && !s.has(p, "configmaps", r.Name) {
				return true
			}
			if r := from.SecretRef; r != nil && !isTrue(r.Optional) && !s.has(p, "secrets", r.Name) {
				return true
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom == nil {
				continue
			}
			if r := e.ValueFrom.ConfigMapKeyRef; r != nil && !isTrue(r.Optional) && !s.hasKey(p, "configmaps", r.Name, r.Key) {
				return true
			}
			if r := e.ValueFrom.SecretKeyRef; r != nil && !isTrue(r.Optional) && !s.hasKey(p, "secrets", r.Name, r.Key) {
				return true
			}
			if r := e.ValueFrom.FileKeyRef; r != nil && !isTrue(r.Optional) {
				return true // what is in the file is not known
			}
		}
	}
	return false
}

func isTrue(b *bool) bool { return b != nil && *b }

// looksAgain is how long a kubelet may take to look at a pod again that lacked something.
const looksAgain = 20 * time.Second

// has reports whether there is a ConfigMap or a Secret for a pod: since before the pod, or for so long that its kubelet knows.
func (s *State) has(p pod, resource, name string) bool {
	v := s.get(resource, p.Namespace, name)
	return v != nil && (s.At.Sub(v.Time) >= looksAgain || v.Place < s.firstPlace(p.Version))
}

// hasKey reports whether such a one has a key.
func (s *State) hasKey(p pod, resource, name, key string) bool {
	if !s.has(p, resource, name) {
		return false
	}
	v := s.get(resource, p.Namespace, name)
	values, _ := v.Fields()["data"].(map[string]any) // of a ConfigMap, what is in binaryData is for files only
	_, has := values[key]
	return has
}

var countsBudget = Law{
	Breach:     "its status does not count the pods that it selects",
	Class:      "status not about the state",
	Components: []string{record.ControllerManager},
	Statement:  "The status of a PodDisruptionBudget counts the pods that it selects, and those of them that are healthy.",
	Source:     "kubernetes/website, docs/tasks/run-application/configure-pdb.md",
	judge: func(s *State, report reporter) {
		for _, v := range s.all("poddisruptionbudgets") {
			of := timeline.As[policyv1.PodDisruptionBudget](v)
			if of.Spec.MinAvailable == nil || of.Spec.MinAvailable.Type != intstr.Int || v.IsBehind() {
				continue // what is expected follows from the owners
			}
			var selected []pod
			for _, p := range s.in(v.Namespace, "pods") {
				if selects(of.Spec.Selector, p.Meta().Labels) {
					selected = append(selected, pod{p})
				}
			}
			if slices.ContainsFunc(selected, func(p pod) bool { return !p.active() }) || len(of.Status.DisruptedPods) > 0 {
				continue
			}
			numbers(v, report, number{"expectedPods", of.Status.ExpectedPods, int32(len(selected))}, //nolint:gosec // they are few
				number{"currentHealthy", of.Status.CurrentHealthy, count(selected, pod.ready)},
				number{"desiredHealthy", of.Status.DesiredHealthy, of.Spec.MinAvailable.IntVal})
		}
	},
}

// leaves is how long what was deleted may take until it is gone: a namespace waits until all in it is, and looks again after
// some time.
func leaves(resource string) time.Duration {
	if resource == "namespaces" {
		return time.Minute
	}
	return 15 * time.Second
}

var isGone = Law{
	Breach:     "it does not go",
	Class:      "not gone",
	Components: []string{record.ControllerManager, "kubelet"},
	Statement:  "An object that was deleted goes once nothing has to be done before.",
	Source:     conventions + ", Verbs on Resources",
	going:      true,
	judge: func(s *State, report reporter) {
		for _, resource := range Resources {
			for _, v := range s.all(resource) {
				meta := v.Meta()
				if meta.DeletionTimestamp == nil || s.since(*meta.DeletionTimestamp) < leaves(resource) || s.isUsed(v) || s.waitsForOwned(v) || slices.ContainsFunc(meta.Finalizers, isForeign) {
					continue
				}
				if v.Resource == "pods" && !s.isReadyNode(v.Pod().Spec.NodeName) {
					continue // the kubelet has to stop it
				}
				report(v, "it should be gone for %.0f s; finalizers %v", s.since(*meta.DeletionTimestamp).Seconds(), meta.Finalizers)
			}
		}
	},
}

// isForeign reports whether a finalizer is none of Kubernetes.
func isForeign(finalizer string) bool {
	return !strings.Contains(finalizer, "kubernetes.io/") && finalizer != metav1.FinalizerOrphanDependents && finalizer != metav1.FinalizerDeleteDependents
}

// isUsed reports whether something is protected while a pod uses it.
func (s *State) isUsed(v *timeline.Version) bool {
	switch v.Resource {
	case "persistentvolumeclaims", "resourceclaims":
		return len(s.in(v.Namespace, "pods")) > 0
	case "persistentvolumes":
		return len(s.all("persistentvolumeclaims")) > 0
	case "namespaces":
		return slices.ContainsFunc(slices.Collect(maps.Values(s.byKey)), func(of *timeline.Version) bool { return of.Namespace == v.Name })
	}
	return false
}

// waitsForOwned reports whether an object is deleted in the foreground, and something that it owns is being deleted, too.
func (s *State) waitsForOwned(v *timeline.Version) bool {
	if !slices.Contains(v.Meta().Finalizers, metav1.FinalizerDeleteDependents) {
		return false
	}
	isOwner := func(o metav1.OwnerReference) bool { return o.UID == v.Meta().UID }
	return slices.ContainsFunc(slices.Collect(maps.Values(s.byKey)), func(of *timeline.Version) bool {
		within := v.Namespace == "" || v.Namespace == of.Namespace
		return within && of.Meta().DeletionTimestamp != nil && slices.ContainsFunc(of.Meta().OwnerReferences, isOwner)
	})
}

var acceptsStored = Law{
	Breach:     "it can't be changed any more",
	Class:      "valid thing refused",
	Components: []string{record.APIServer},
	Statement:  "What is stored is valid: a change that leaves its values alone is accepted.",
	Source:     "kubernetes/community, sig-architecture/api_changes.md, On compatibility",
	faulty:     true,
	frozen:     true,
	judge: func(s *State, report reporter) {
		for _, r := range s.Refused {
			if v := s.byKey[r.Object]; v != nil && v.Meta().DeletionTimestamp == nil && !isOfPolicy(r) {
				report(v, "an annotation is refused: %d %s", r.Code, r.Message)
			}
		}
	},
}

// isOfPolicy reports whether a refusal is that of a webhook or a policy, or of a server that has no time.
func isOfPolicy(r record.Refusal) bool {
	busy := []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	return slices.Contains(busy, r.Code) || slices.ContainsFunc([]string{"admission webhook", "calling webhook", "ValidatingAdmissionPolicy '"}, func(by string) bool {
		return strings.Contains(r.Message, by)
	})
}
