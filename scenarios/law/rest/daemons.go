package rest

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/skewrig/skewrig/record/timeline"
)

// daemons are the pods of a DaemonSet, by node: of those that it wants one on, and of others.
type daemons struct{ wanted, unwanted map[string][]pod }

// daemonTolerations are for the taints that pods of DaemonSets tolerate (pkg/controller/daemon/util/daemonset_util.go).
var daemonTolerations = []corev1.Toleration{
	{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
	{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
	{Key: corev1.TaintNodeDiskPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeMemoryPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodePIDPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
}

// daemons are those of a DaemonSet. It is false if it is being deleted, or if it can't be known on which nodes it wants a pod.
func (s *State) daemons(v *timeline.Version) (all daemons, is bool) {
	if v.Meta().DeletionTimestamp != nil || !s.isWhole() {
		return all, false
	}
	template := timeline.As[appsv1.DaemonSet](v).Spec.Template.DeepCopy()
	daemon := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	daemon.Spec.Tolerations = append(daemon.Spec.Tolerations, daemonTolerations...)
	if daemon.Spec.HostNetwork {
		daemon.Spec.Tolerations = append(daemon.Spec.Tolerations, corev1.Toleration{Key: corev1.TaintNodeNetworkUnavailable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	all = daemons{wanted: make(map[string][]pod), unwanted: make(map[string][]pod)}
	for _, n := range s.all("nodes") {
		node := timeline.As[corev1.Node](n)
		matches, err := nodeaffinity.GetRequiredNodeAffinity(daemon).Match(node)
		if err != nil {
			return all, false
		}
		if matches && toleratesTaints(daemon, node) && (daemon.Spec.NodeName == "" || daemon.Spec.NodeName == n.Name) {
			all.wanted[n.Name] = nil
		} else {
			all.unwanted[n.Name] = nil
		}
	}
	for _, p := range s.pods(v) {
		node := p.Pod().Spec.NodeName
		for _, nodes := range []map[string][]pod{all.wanted, all.unwanted} {
			if pods, there := nodes[node]; there {
				nodes[node] = append(pods, p)
			}
		}
	}
	return all, true
}

// several reports whether a node has more than one pod of a DaemonSet.
func (d daemons) several() bool {
	for _, pods := range d.wanted {
		if len(pods) > 1 {
			return true
		}
	}
	return false
}

// isUnsettled reports whether a pod of a DaemonSet ended, goes, or waits for its node.
func isUnsettled(p pod) bool { return !p.active() || p.Pod().Spec.NodeName == "" }

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
		if !is || all.several() || v.IsBehind() || s.isBusy(pods, of.Spec.MinReadySeconds) || slices.ContainsFunc(pods, isUnsettled) {
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
		if !is || s.mayLack(v) || slices.ContainsFunc(pods, isUnsettled) {
			continue // a pod that ended is made again later, and one that waits is of one of the nodes
		}
		for _, n := range s.all("nodes") {
			if on, wanted := all.wanted[n.Name]; wanted && len(on) == 0 && n.Meta().DeletionTimestamp == nil {
				report(v, "no pod on node %s", n.Name)
			}
		}
	}
}

// hasNoMoreDaemons looks for nodes with several pods of a DaemonSet.
func (s *State) hasNoMoreDaemons(report reporter) {
	for _, v := range s.all("daemonsets") {
		all, _ := s.daemons(v) // no nodes, if that is not known
		for _, node := range slices.Sorted(maps.Keys(all.wanted)) {
			if n := count(all.wanted[node], pod.active); n > 1 && !isRollingPods(v) {
				report(v, "%d pods on node %s", n, node)
			}
		}
	}
}
