package rest

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

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
	of.waits, of.goes, of.queued = false, time.Time{}, false
	switch deleted := v.Meta().DeletionTimestamp; {
	case v.Gone():
	case deleted != nil:
		of.goes = deleted.Add(leaves(v.Resource))
	default:
		of.waits = s.waits(v)
		of.queued = s.Scheduler && v.Resource == "pods" && v.Pod().Spec.NodeName == "" && (pod{v}).condition(corev1.PodScheduled).Reason == corev1.PodReasonUnschedulable
	}
}

// Restless are the keys of objects that are not at rest at a time, sorted: those that wait for a component, that were written
// within a while before, or were deleted and may still go; a pod that no node takes, until the scheduler has looked again. What is
// written without end does not keep others from rest: law.Endlessly has it.
func (s *Stillness) Restless(now time.Time, while time.Duration) (keys []string) {
	var last time.Time // any write
	for _, of := range s.seen {
		if of.writes <= law.MaxWrites && of.at.After(last) {
			last = of.at
		}
	}
	for key, of := range s.seen {
		queued := of.queued && now.Sub(last) < retried
		if of.writes <= law.MaxWrites && (of.waits || queued || now.Sub(of.at) < while || now.Before(of.goes)) {
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
