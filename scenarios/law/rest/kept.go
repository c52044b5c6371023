package rest

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

var keepsPods = Law{
	Breach:     "its pods are replaced although nothing changed",
	Class:      "pods restarted or evicted for nothing",
	Components: []string{record.ControllerManager},
	Statement:  "A pod runs on as long as its owner is not changed, and no client deletes or evicts it.",
	Source:     "kubernetes/website, docs/concepts/workloads/pods/pod-lifecycle.md, Pod lifetime",
	judge: func(s *State, report reporter) {
		before := s.before()
		if before == nil || s.wasFaulty(before) {
			return
		}
		for _, resource := range []string{"replicasets", "statefulsets", "daemonsets"} {
			for _, owner := range s.all(resource) {
				was := before.byKey[owner.Key]
				if was == nil || before.isRestless(was) || was.Meta().UID != owner.Meta().UID || was.Meta().Generation != owner.Meta().Generation || owner.Meta().DeletionTimestamp != nil {
					continue
				}
				if isRollingPods(was) || slices.ContainsFunc(s.pods(owner), s.isAdopted) {
					continue // it makes room for a pod that a client made
				}
				for _, p := range before.pods(was) {
					if p.active() && p.ready() && s.lost(p) && !s.isAsked(before, p) {
						report(owner, "pod %s ran, and is gone", p.Name)
					}
				}
			}
		}
	},
}

// isRollingPods reports whether the rollout of a StatefulSet or a DaemonSet is not complete.
func isRollingPods(v *timeline.Version) bool {
	switch v.Resource {
	case "statefulsets":
		status := timeline.As[appsv1.StatefulSet](v).Status
		return status.CurrentRevision != status.UpdateRevision
	case "daemonsets":
		status := timeline.As[appsv1.DaemonSet](v).Status
		return status.UpdatedNumberScheduled != status.DesiredNumberScheduled
	}
	return false
}

// before is the state at the moment of rest before this one; nil if there is none.
func (s *State) before() *State {
	var last *timeline.Rest
	for _, r := range s.record.Rests {
		if r.Place < s.place {
			last = r
		}
	}
	if last == nil {
		return nil
	}
	return At(s.record, last)
}

// wasFaulty reports whether there was a fault since another state.
func (s *State) wasFaulty(since *State) bool {
	return since.Faulty || slices.ContainsFunc(s.record.Faults, func(f *timeline.Fault) bool { return f.From.Place > since.place && f.From.Place < s.place })
}

// lost reports whether a pod is not there any more as it was, and did not end by itself.
func (s *State) lost(p pod) bool {
	if now := s.byKey[p.Key]; now != nil && now.Meta().UID == p.Meta().UID && !(pod{now}).going() {
		return false
	}
	for _, v := range s.record.States(p.Key) {
		last := pod{v}
		if v.Place < s.place && v.Meta().UID == p.Meta().UID && (last.ended() || last.condition(corev1.DisruptionTarget).Status == corev1.ConditionTrue) {
			return false
		}
	}
	return true
}

// isAsked reports whether a client wrote a pod or its node since another state.
func (s *State) isAsked(since *State, p pod) bool {
	return slices.ContainsFunc(s.record.Answers, func(a *timeline.Answer) bool {
		asked := a.Object == p.Key || a.Object == "nodes/"+p.Pod().Spec.NodeName || a.Object == "pods/"+p.Namespace+"/*"
		return a.Place > since.place && a.Place < s.place && a.Code < 400 && asked
	})
}

var staysRunning = Law{
	Breach:     "it has succeeded, and its containers are to be started again",
	Class:      "status not about the state",
	Components: []string{"kubelet"},
	Statement:  "A pod succeeds if all of its containers ended well and are not started again; one that its kubelet ends fails.",
	Source:     "kubernetes/website, docs/concepts/workloads/pods/pod-lifecycle.md, Pod phase",
	faulty:     true,
	judge: func(s *State, report reporter) {
		for _, v := range s.all("pods") {
			of := v.Pod()
			always := of.Spec.RestartPolicy == corev1.RestartPolicyAlways && !slices.ContainsFunc(of.Spec.Containers, func(c corev1.Container) bool { return c.RestartPolicy != nil })
			if always && of.Status.Phase == corev1.PodSucceeded && of.DeletionTimestamp == nil && !s.Written[v.Key] {
				report(v, "restartPolicy Always; reason %q", of.Status.Reason)
			}
		}
	},
}
