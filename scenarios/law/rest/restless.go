package rest

import (
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/law"
)

// Stillness says which objects of a record are at rest, while the record grows.
type Stillness struct {
	// Began is when the wait for rest began. Scheduler is true if there is a scheduler, which says of each pod whether it can be
	// scheduled.
	Began     time.Time
	Scheduler bool

	seen map[string]*seen
}

// seen is what was seen of an object.
type seen struct {
	at     time.Time // the last write
	writes int       // since the wait began
	waits  bool      // for a component that has not looked at it
	goes   time.Time // by when it should be gone, if it was deleted
	due    time.Time // by when something should be said of it
	queued bool      // a pod that no node takes
}

// Add adds the next event of the record.
func (s *Stillness) Add(e record.Event) {
	if e.Kind != (record.ObjectObserved{}).EventKind() {
		return
	}
	o, is := record.As[record.ObjectObserved](e)
	if !is || o.Cluster != "" || slices.Contains([]string{"events", "nodes", "leases"}, o.Resource) {
		return
	}
	if s.seen == nil {
		s.seen = make(map[string]*seen)
	}
	of := s.seen[e.Subject]
	if of == nil {
		of = new(seen)
		s.seen[e.Subject] = of
	}
	of.at = e.At
	if e.At.After(s.Began) {
		of.writes++
	}
	v := timeline.NewVersion(e.Subject, o.Object)
	v.Change = o.Change
	of.waits, of.goes, of.due, of.queued = false, time.Time{}, time.Time{}, false
	switch deleted := v.Meta().DeletionTimestamp; {
	case v.Gone():
	case deleted != nil:
		of.goes = deleted.Add(leaves(v.Resource))
	default:
		of.waits, of.due = s.waits(v), due(v, e.At)
		of.queued = s.Scheduler && v.Resource == "pods" && v.Pod().Spec.NodeName == "" && (pod{v}).condition(corev1.PodScheduled).Reason == corev1.PodReasonUnschedulable
	}
}

// patience is how long an object waits for a component that has not looked at it. Then it is judged as it is: a component may have
// lost it, and a scheduler says nothing of a pod while it waits for its volumes.
const patience = 20 * time.Second

// Restless are the keys of objects that are not at rest at a time, sorted. They wait for a component that has not looked at them;
// they were written within a while before; they were deleted and may still go; a workload waits a short time for its pods; or no node
// takes a pod, until the scheduler has looked again. Objects that are written without end do not keep others from rest: law.Endlessly
// has them.
func (s *Stillness) Restless(now time.Time, while time.Duration) (keys []string) {
	var last time.Time // any write
	for _, of := range s.seen {
		if of.writes <= law.MaxWrites && of.at.After(last) {
			last = of.at
		}
	}
	for key, of := range s.seen {
		queued := of.queued && now.Sub(last) < retried
		waits := of.waits && now.Sub(of.at) < patience
		if of.writes <= law.MaxWrites && (waits || queued || now.Sub(of.at) < while || now.Before(of.goes) || now.Before(of.due)) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// waits reports whether an object waits for a component that has not looked at it.
func (s *Stillness) waits(v *timeline.Version) bool {
	switch v.Resource {
	case "deployments", "replicasets", "statefulsets", "daemonsets", "poddisruptionbudgets":
		return v.Workload().Status.ObservedGeneration != v.Meta().Generation
	case "pods":
		p := pod{v}
		return s.Scheduler && p.active() && v.Pod().Spec.NodeName == "" && isOfDefaultScheduler(v) && p.condition(corev1.PodScheduled).Status == ""
	default:
		return v.IsBehind()
	}
}

// near is how long a time may be that a workload waits for others to wait for it, too.
const near = 10 * time.Second

// due is by when a controller should say of a workload that its rollout makes no progress, or that its pods are available, and by
// when a container should have been probed.
func due(v *timeline.Version, written time.Time) (at time.Time) {
	if v.Resource == "pods" {
		for _, c := range startingOf(v) {
			if after := unprobed(c.StartupProbe); after <= 2*near {
				at = written.Add(after + slack)
			}
		}
	}
	if v.Resource == "deployments" {
		of := timeline.As[appsv1.Deployment](v)
		waits, since := isRollingOut(of)
		if after := time.Duration(ptr.Deref(of.Spec.ProgressDeadlineSeconds, math.MaxInt32)) * time.Second; waits && after <= near {
			at = since.Add(after + slack)
		}
	}
	if after := time.Duration(v.Workload().Spec.MinReadySeconds) * time.Second; after > 0 && after <= near && written.Add(after+slack).After(at) {
		at = written.Add(after + slack)
	}
	return at
}
