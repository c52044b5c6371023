package rest

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

var isProbed = Law{
	Breach:     "it waits for a startup probe that is not run any more",
	Class:      "pod or container never created",
	Components: []string{"kubelet"},
	Statement:  "A startup probe is run until it was good, or the container is restarted.",
	Source:     "kubernetes/website, docs/concepts/workloads/pods/pod-lifecycle.md, Container probes",
	judge: func(s *State, report reporter) {
		for _, v := range s.all("pods") {
			if (pod{v}).active() && s.isReadyNode(v.Pod().Spec.NodeName) {
				for _, c := range startingOf(v) {
					if last, known := s.lastProbe(v, c); known && s.At.Sub(last) > unprobed(c.StartupProbe) {
						report(v, "container %s runs and has not started, and its startup probe was not run for %s", c.Name, s.At.Sub(last).Round(time.Second))
					}
				}
			}
		}
	},
}

// startingOf are the containers of a pod that run and wait for a startup probe whose runs the record has.
func startingOf(v *timeline.Version) (all []corev1.Container) {
	for _, c := range slices.Concat(v.Pod().Spec.InitContainers, v.Pod().Spec.Containers) {
		status := statusOf(v, c.Name)
		waits := status != nil && status.State.Running != nil && !isTrue(status.Started)
		if waits && isRecorded(c.StartupProbe) {
			all = append(all, c)
		}
	}
	return all
}

// probedLate is how much later than its period a probe may be run on a busy machine.
const probedLate = 10 * time.Second

// unprobed is for how long a startup probe may not be run.
func unprobed(p *corev1.Probe) time.Duration {
	seconds := p.InitialDelaySeconds + 3*max(p.PeriodSeconds, 1) + p.TimeoutSeconds
	return time.Duration(seconds)*time.Second + probedLate
}

// lastProbe is when the startup probe of a container was run last, or when the container started, if that is known.
func (s *State) lastProbe(v *timeline.Version, c corev1.Container) (last time.Time, known bool) {
	container := v.Namespace + "/" + v.Name + "/" + c.Name
	began, known := s.startOf(container, statusOf(v, c.Name).ContainerID)
	if !known || len(s.record.Lost(timeline.NeedsOf(container, record.Exec{}), began.Time, s.At)) > 0 {
		return last, false
	}
	last = began.Time
	for _, e := range s.record.Events[began.Place:min(s.place, len(s.record.Events))] {
		if ran, is := record.As[record.Exec](e); is && e.Subject == container && slices.Equal(ran.Args, c.StartupProbe.Exec.Command) {
			last = e.At
		}
	}
	return last, true
}
