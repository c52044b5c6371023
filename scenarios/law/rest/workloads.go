package rest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

var reportsPods = Law{
	Breach:     "its status does not say what its pods are",
	Class:      "status not about the state",
	Components: []string{record.ControllerManager},
	Statement:  "The numbers in the status of a workload are those of its pods.",
	Source:     conventions + ", Typical status properties",
	faulty:     true,
	judge: func(s *State, report reporter) {
		if s.mute {
			return
		}
		s.reportsReplicaSets(report)
		s.reportsDeployments(report)
		s.reportsStatefulSets(report)
		s.reportsDaemonSets(report)
		s.reportsJobs(report)
	},
}

var hasPods = Law{
	Breach:     "it does not have the pods that it wants",
	Class:      "pod or container never created",
	Components: []string{record.ControllerManager},
	Statement:  "A workload has as many pods as its spec says.",
	Source:     conventions + ", Controllers",
	judge: func(s *State, report reporter) {
		s.ownsReplicaSets(report)
		s.ownsDeployments(report)
		s.ownsStatefulSets(report)
		s.ownsDaemonSets(report)
		s.ownsJobs(report)
	},
}

var hasNoMore = Law{
	Breach:     "it has pods that it does not want",
	Class:      "not gone",
	Components: []string{record.ControllerManager},
	Statement:  "A workload has no more pods than its spec says.",
	Source:     conventions + ", Controllers",
	judge: func(s *State, report reporter) {
		for _, v := range s.all("replicasets") {
			of, active := timeline.As[appsv1.ReplicaSet](v), count(s.pods(v), pod.active)
			if of.Spec.Replicas != nil && v.Meta().DeletionTimestamp == nil && active > *of.Spec.Replicas {
				report(v, "%d pods, where spec.replicas is %d", active, *of.Spec.Replicas)
			}
		}
		for _, v := range s.all("statefulsets") {
			set, is := s.ordinals(v)
			for name, p := range set.pods {
				n, err := strconv.Atoi(strings.TrimPrefix(name, v.Name+"-"))
				if is && err == nil && (n < set.first || n >= set.last) && !p.going() && (set.healthy || set.parallel) {
					report(v, "pod %s is there, where spec.replicas is %d", name, set.last-set.first)
				}
			}
		}
		s.hasNoMoreDaemons(report)
		for _, v := range s.all("jobs") {
			of, active := timeline.As[batchv1.Job](v), count(s.pods(v), pod.active)
			if !isManagedElsewhere(of) && v.Meta().DeletionTimestamp == nil && (isSuspended(of) || hasEnded(of)) && active > 0 {
				report(v, "%d pods, where there should be none", active)
			}
		}
	},
}

// pod is a pod as laws look at it.
type pod struct{ *timeline.Version }

// pods are those that an object controls.
func (s *State) pods(owner *timeline.Version) (all []pod) {
	for _, v := range s.owned(owner, "pods") {
		all = append(all, pod{v})
	}
	return all
}

func (p pod) phase() corev1.PodPhase { return p.Pod().Status.Phase }

// ended reports whether its containers have all ended for good.
func (p pod) ended() bool { return p.phase() == corev1.PodSucceeded || p.phase() == corev1.PodFailed }

// going reports whether it is being deleted.
func (p pod) going() bool { return p.Meta().DeletionTimestamp != nil }

// active reports whether it counts as one of its owner's.
func (p pod) active() bool { return !p.ended() && !p.going() }

func (p pod) condition(name corev1.PodConditionType) corev1.PodCondition {
	all := p.Pod().Status.Conditions
	if n := slices.IndexFunc(all, func(c corev1.PodCondition) bool { return c.Type == name }); n >= 0 {
		return all[n]
	}
	return corev1.PodCondition{}
}

func (p pod) ready() bool { return p.condition(corev1.PodReady).Status == corev1.ConditionTrue }

// count is how many pods are so.
func count(all []pod, is func(pod) bool) (n int32) {
	for _, p := range all {
		if is(p) {
			n++
		}
	}
	return n
}

// numbers reports numbers of a status that are not as they should be.
func numbers(v *timeline.Version, report reporter, all ...number) {
	var wrong []string
	for _, n := range all {
		if n.says != n.is {
			wrong = append(wrong, fmt.Sprintf("status.%s is %d, and %d are so", n.name, n.says, n.is))
		}
	}
	if len(wrong) > 0 {
		report(v, "%s", strings.Join(wrong, "; "))
	}
}

// number is one that a status says, and what it should say.
type number struct {
	name     string
	says, is int32
}

// isBusy reports whether pods come, go, or are about to be available, so that numbers are about to change.
func (s *State) isBusy(all []pod, minReady int32) bool {
	available := time.Duration(minReady) * time.Second
	return slices.ContainsFunc(all, func(p pod) bool {
		return p.going() || minReady > 0 && p.ready() && s.since(p.condition(corev1.PodReady).LastTransitionTime) < available+slack
	})
}

func (s *State) reportsReplicaSets(report reporter) {
	for _, v := range s.all("replicasets") {
		of, pods := timeline.As[appsv1.ReplicaSet](v), s.pods(v)
		if v.IsBehind() || s.isBusy(pods, of.Spec.MinReadySeconds) {
			continue
		}
		active := slices.DeleteFunc(slices.Clone(pods), func(p pod) bool { return !p.active() || !selects(of.Spec.Selector, p.Meta().Labels) })
		ready := count(active, pod.ready)
		numbers(v, report, number{"replicas", of.Status.Replicas, int32(len(active))}, //nolint:gosec // they are few
			number{"readyReplicas", of.Status.ReadyReplicas, ready}, number{"availableReplicas", of.Status.AvailableReplicas, ready})
	}
}

func (s *State) reportsDeployments(report reporter) {
	for _, v := range s.all("deployments") {
		of := timeline.As[appsv1.Deployment](v)
		if v.IsBehind() {
			continue
		}
		var replicas, ready, available int32
		busy := false
		for _, set := range s.owned(v, "replicasets") {
			status := timeline.As[appsv1.ReplicaSet](set).Status
			replicas, ready, available = replicas+status.Replicas, ready+status.ReadyReplicas, available+status.AvailableReplicas
			busy = busy || set.IsBehind() || s.isBusy(s.pods(set), of.Spec.MinReadySeconds)
		}
		if !busy {
			numbers(v, report, number{"replicas", of.Status.Replicas, replicas}, number{"readyReplicas", of.Status.ReadyReplicas, ready},
				number{"availableReplicas", of.Status.AvailableReplicas, available})
		}
		s.reportsDeadline(v, of, report)
	}
}

// slack is how long a controller may take to say something beyond its deadline.
const slack = 5 * time.Second

// isRollingOut reports whether a controller says that a rollout makes progress, and since when.
func isRollingOut(of *appsv1.Deployment) (is bool, since time.Time) {
	spec, status := of.Spec, of.Status
	if spec.ProgressDeadlineSeconds == nil || spec.Paused || spec.Replicas == nil || of.DeletionTimestamp != nil {
		return false, since
	}
	if status.UpdatedReplicas == *spec.Replicas && status.Replicas == *spec.Replicas && status.AvailableReplicas == *spec.Replicas {
		return false, since
	}
	for _, c := range status.Conditions {
		if c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionTrue && c.Reason != "NewReplicaSetAvailable" {
			return true, c.LastUpdateTime.Time
		}
	}
	return false, since
}

// reportsDeadline looks at a rollout that does not come to its end.
func (s *State) reportsDeadline(v *timeline.Version, of *appsv1.Deployment, report reporter) {
	is, began := isRollingOut(of)
	if !is {
		return
	}
	deadline, since := time.Duration(*of.Spec.ProgressDeadlineSeconds)*time.Second, s.At.Sub(began)
	if since > deadline+slack {
		report(v, "condition Progressing has been True for %.0f s without progress, and the deadline is %s", since.Seconds(), deadline)
	}
}

func (s *State) reportsStatefulSets(report reporter) {
	for _, v := range s.all("statefulsets") {
		of, pods := timeline.As[appsv1.StatefulSet](v), s.pods(v)
		if v.IsBehind() || s.isBusy(pods, of.Spec.MinReadySeconds) {
			continue
		}
		ready := count(pods, func(p pod) bool { return p.phase() == corev1.PodRunning && p.ready() })
		numbers(v, report,
			number{"replicas", of.Status.Replicas, count(pods, func(p pod) bool { return p.phase() != "" })},
			number{"readyReplicas", of.Status.ReadyReplicas, ready}, number{"availableReplicas", of.Status.AvailableReplicas, ready})
	}
}

func (s *State) reportsJobs(report reporter) {
	for _, v := range s.all("jobs") {
		of, pods := timeline.As[batchv1.Job](v), s.pods(v)
		if isManagedElsewhere(of) || slices.ContainsFunc(pods, pod.going) {
			continue
		}
		ready := of.Status.Ready
		if ready == nil {
			ready = new(int32)
		}
		numbers(v, report, number{"active", of.Status.Active, count(pods, pod.active)},
			number{"ready", *ready, count(pods, func(p pod) bool { return p.active() && p.ready() })})
	}
}

func isManagedElsewhere(of *batchv1.Job) bool {
	return of.Spec.ManagedBy != nil && *of.Spec.ManagedBy != batchv1.JobControllerName
}

// mayLack reports whether there is a reason that pods can't be made: a quota, a limit or an admission that refuses them. The status
// of a StatefulSet or a Job does not say so.
func (s *State) mayLack(owner *timeline.Version) bool {
	if len(s.in(owner.Namespace, "resourcequotas")) > 0 || len(s.in(owner.Namespace, "limitranges")) > 0 || len(s.record.Webhooks) > 0 {
		return true
	}
	if namespace := s.get("namespaces", "", owner.Namespace); namespace != nil && namespace.Meta().Labels["pod-security.kubernetes.io/enforce"] != "" {
		return true
	}
	failed := owner.Condition("ReplicaFailure")
	return failed.Status == "True"
}

func (s *State) ownsReplicaSets(report reporter) {
	for _, v := range s.all("replicasets") {
		of, active := timeline.As[appsv1.ReplicaSet](v), count(s.pods(v), pod.active)
		if of.Spec.Replicas == nil || v.Meta().DeletionTimestamp != nil {
			continue
		}
		if wanted := *of.Spec.Replicas; active < wanted && !s.mayLack(v) {
			report(v, "%d pods, where spec.replicas is %d", active, wanted)
		}
	}
}

func (s *State) ownsDeployments(report reporter) {
	for _, v := range s.all("deployments") {
		of := timeline.As[appsv1.Deployment](v)
		if of.Spec.Paused || of.Spec.Replicas == nil || v.Meta().DeletionTimestamp != nil || s.mayLack(v) {
			continue
		}
		sets := s.owned(v, "replicasets")
		var all int32
		waits := of.Spec.MinReadySeconds > 0 // a rollout does, for pods that are not available, or have to go first
		for _, set := range sets {
			pods := s.pods(set)
			all += count(pods, pod.active)
			waits = waits || slices.ContainsFunc(pods, func(p pod) bool { return p.going() || p.active() && !p.ready() }) || s.mayLack(set)
		}
		switch {
		case len(sets) == 0:
			report(v, "it has no ReplicaSet")
		case !waits && all != *of.Spec.Replicas:
			report(v, "%d pods, where spec.replicas is %d", all, *of.Spec.Replicas)
		}
	}
}

// set is the pods of a StatefulSet: those with ordinals from first on, and before last.
type set struct {
	first, last int
	pods        map[string]pod
	// parallel is true if they are made at the same time. Otherwise each waits until those before it are available, which all are
	// known to be if healthy is true.
	parallel, healthy bool
}

func (set set) name(v *timeline.Version, n int) string { return fmt.Sprintf("%s-%d", v.Name, n) }

// ordinals are the pods of a StatefulSet. It is false of one that is deleted.
func (s *State) ordinals(v *timeline.Version) (all set, is bool) {
	of := timeline.As[appsv1.StatefulSet](v)
	if of.Spec.Replicas == nil || v.Meta().DeletionTimestamp != nil {
		return all, false
	}
	all = set{pods: make(map[string]pod), parallel: of.Spec.PodManagementPolicy == appsv1.ParallelPodManagement, healthy: of.Spec.MinReadySeconds == 0}
	if of.Spec.Ordinals != nil {
		all.first = int(of.Spec.Ordinals.Start)
	}
	all.last = all.first + int(*of.Spec.Replicas)
	for _, p := range s.pods(v) {
		all.pods[p.Name] = p
		all.healthy = all.healthy && p.ready() && !p.going()
	}
	for n := all.first; n < all.last; n++ {
		all.healthy = all.healthy && (all.pods[all.name(v, n)].Version != nil || s.get("pods", v.Namespace, all.name(v, n)) == nil)
	}
	return all, true
}

func (s *State) ownsStatefulSets(report reporter) {
	for _, v := range s.all("statefulsets") {
		all, is := s.ordinals(v)
		if slices.ContainsFunc(s.in(v.Namespace, "persistentvolumeclaims"), func(v *timeline.Version) bool { return v.Meta().DeletionTimestamp != nil }) {
			continue // a pod waits until the old claim of that name is gone
		}
		for n := all.first; is && n < all.last && (all.healthy || all.parallel); n++ {
			name := all.name(v, n)
			if all.pods[name].Version == nil && !s.mayLack(v) && s.get("pods", v.Namespace, name) == nil {
				report(v, "pod %s is not there", name)
			}
		}
	}
}

func (s *State) ownsJobs(report reporter) {
	for _, v := range s.all("jobs") {
		of, pods := timeline.As[batchv1.Job](v), s.pods(v)
		if isManagedElsewhere(of) || v.Meta().DeletionTimestamp != nil {
			continue
		}
		active := count(pods, pod.active)
		switch {
		case isSuspended(of), hasEnded(of), s.mayLack(v), of.Spec.Parallelism == nil, of.Status.Failed > 0, slices.ContainsFunc(pods, pod.going), slices.ContainsFunc(pods, pod.ended) && of.Spec.Completions == nil:
			// A pod that failed is made again later, or once it is gone, and without a number of completions one success is enough.
		case active != wantedByJob(of):
			report(v, "%d pods, where there should be %d", active, wantedByJob(of))
		}
	}
}

func isSuspended(of *batchv1.Job) bool { return of.Spec.Suspend != nil && *of.Spec.Suspend }

// hasEnded reports whether a Job has completed or failed.
func hasEnded(of *batchv1.Job) bool {
	return slices.ContainsFunc(of.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// wantedByJob is how many pods a Job has at the same time.
func wantedByJob(of *batchv1.Job) int32 {
	wanted := *of.Spec.Parallelism
	if of.Spec.Completions != nil {
		wanted = min(wanted, *of.Spec.Completions-of.Status.Succeeded)
	}
	return wanted
}
