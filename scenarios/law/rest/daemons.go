package rest

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/skewrig/skewrig/record/timeline"
)

// daemons are the pods of a DaemonSet, by node: of those that it wants one on, and of others.
type daemons struct{ wanted, unwanted map[string][]pod }

// daemons are those of a DaemonSet. It is false if it is being deleted, or if it can't be known on which nodes it wants a pod.
func (s *State) daemons(v *timeline.Version) (all daemons, is bool) {
	template := timeline.As[appsv1.DaemonSet](v).Spec.Template
	daemon := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	all = daemons{wanted: make(map[string][]pod), unwanted: make(map[string][]pod)}
	for _, n := range s.all("nodes") {
		node := timeline.As[corev1.Node](n).DeepCopy()
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return strings.HasPrefix(t.Key, "node.kubernetes.io/") }) // daemons tolerate those
		matches, err := nodeaffinity.GetRequiredNodeAffinity(daemon).Match(node)
		if err != nil {
			return all, false
		}
		if matches && toleratesTaints(daemon, node) {
			all.wanted[n.Name] = nil
		} else {
			all.unwanted[n.Name] = nil
		}
	}
	for _, p := range s.pods(v) {
		node := p.Pod().Spec.NodeName
		if _, wanted := all.wanted[node]; wanted {
			all.wanted[node] = append(all.wanted[node], p)
		} else if node != "" {
			all.unwanted[node] = append(all.unwanted[node], p)
		}
	}
	return all, v.Meta().DeletionTimestamp == nil && v.Meta().Labels[appsv1.DeprecatedTemplateGeneration] == ""
}

// on is how many nodes have a pod that is so.
func on(nodes map[string][]pod, is func(pod) bool) (n int32) {
	for _, pods := range nodes {
		if slices.ContainsFunc(pods, is) {
			n++
		}
	}
	return n
}

func (s *State) reportsDaemonSets(report reporter) {
	for _, v := range s.all("daemonsets") {
		of, pods := timeline.As[appsv1.DaemonSet](v), s.pods(v)
		all, is := s.daemons(v)
		if !is || v.IsBehind() || s.isBusy(pods, of.Spec.MinReadySeconds) || slices.ContainsFunc(pods, func(p pod) bool { return !p.active() || p.Pod().Spec.NodeName == "" }) {
			continue
		}
		there := func(pod) bool { return true }
		numbers(v, report,
			number{"desiredNumberScheduled", of.Status.DesiredNumberScheduled, int32(len(all.wanted))}, //nolint:gosec // they are few
			number{"currentNumberScheduled", of.Status.CurrentNumberScheduled, on(all.wanted, there)},
			number{"numberMisscheduled", of.Status.NumberMisscheduled, on(all.unwanted, there)},
			number{"numberReady", of.Status.NumberReady, on(all.wanted, pod.ready)})
	}
}

func (s *State) ownsDaemonSets(report reporter) {
	for _, v := range s.all("daemonsets") {
		all, is := s.daemons(v)
		pods := s.pods(v)
		if !is || s.mayLack(v) || slices.ContainsFunc(pods, func(p pod) bool { return !p.active() || p.Pod().Spec.NodeName == "" }) {
			continue // a pod that ended is made again later, and one that waits is of one of the nodes
		}
		for _, n := range s.all("nodes") {
			if on, wanted := all.wanted[n.Name]; wanted && len(on) == 0 && n.Meta().DeletionTimestamp == nil {
				report(v, "no pod on node %s", n.Name)
			}
		}
	}
}
