package rest

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

var startsInOrder = Law{
	Breach:     "it counts as started before its startup probe was good",
	Class:      "status not about the state",
	Components: []string{"kubelet"},
	Statement:  "A container has started once its startup probe was good in that container.",
	Source:     "kubernetes/website, docs/concepts/workloads/pods/pod-lifecycle.md, Container probes",
	faulty:     true,
	judge: func(s *State, report reporter) {
		s.eachEarly(func(c corev1.Container) *corev1.Probe { return c.StartupProbe }, countsStarted, func(early *timeline.Version, c corev1.Container) {
			report(early, "container %s had started: true in restart %d, and its startup probe was not good since that began", c.Name, statusOf(early, c.Name).RestartCount)
		})
	},
}

var readyInOrder = Law{
	Breach:     "it counts as ready before its readiness probe was good",
	Class:      "status not about the state",
	Components: []string{"kubelet"},
	Statement:  "A container with a readiness probe is ready once the probe was good in that container.",
	Source:     "kubernetes/website, docs/concepts/workloads/pods/pod-lifecycle.md, Container probes",
	faulty:     true,
	judge: func(s *State, report reporter) {
		s.eachEarly(func(c corev1.Container) *corev1.Probe { return c.ReadinessProbe }, countsReady, func(early *timeline.Version, c corev1.Container) {
			report(early, "container %s had ready: true in restart %d, and its readiness probe was not good since that began", c.Name, statusOf(early, c.Name).RestartCount)
		})
	},
}

// countsStarted and countsReady report whether a status says of a container that a probe was good.
func countsStarted(c *corev1.ContainerStatus) bool { return isTrue(c.Started) }
func countsReady(c *corev1.ContainerStatus) bool   { return c.Ready }

// eachEarly calls a function for each container with a probe whose status says too early that it was good.
func (s *State) eachEarly(probe func(corev1.Container) *corev1.Probe, is func(*corev1.ContainerStatus) bool, report func(early *timeline.Version, c corev1.Container)) {
	for _, v := range s.all("pods") {
		for _, c := range slices.Concat(v.Pod().Spec.InitContainers, v.Pod().Spec.Containers) {
			of := probe(c)
			if !isRecorded(of) {
				continue
			}
			if early, found := s.early(v, c.Name, of.Exec.Command, is); found {
				report(early, c)
			}
		}
	}
}

// isRecorded reports whether the record has the runs of a probe under the command that its container names.
func isRecorded(p *corev1.Probe) bool {
	return p != nil && p.Exec != nil && !isExpanded(p.Exec.Command)
}

// isExpanded reports whether a command may have variables, so that another one is run.
func isExpanded(command []string) bool {
	return slices.ContainsFunc(command, func(arg string) bool { return strings.Contains(arg, "$") })
}

// goodCommands are where in the record commands of containers ended well, by the container.
func (s *State) goodCommands() map[string][]command {
	if s.good != nil {
		return s.good
	}
	good := make(map[string][]command)
	for place, e := range s.record.Events {
		if ran, is := record.As[record.Exec](e); is && ran.ExitCode == 0 && ran.Error == "" {
			good[e.Subject] = append(good[e.Subject], command{place, ran.Args})
		}
	}
	s.good = good
	return good
}

// command is one that ended well.
type command struct {
	place int
	args  []string
}

// early is the first state of a pod in which a container that was started again counts as started or ready although the command of
// a probe was not good since.
func (s *State) early(v *timeline.Version, name string, probe []string, counts func(*corev1.ContainerStatus) bool) (*timeline.Version, bool) {
	container := v.Namespace + "/" + v.Name + "/" + name
	for _, is := range s.record.States(v.Key) {
		status := statusOf(is, name)
		if is.Place > s.place || is.Gone() || is.Meta().UID != v.Meta().UID || status == nil || status.State.Running == nil || !counts(status) || status.RestartCount == 0 {
			continue
		}
		began, known := s.startOf(container, status.ContainerID)
		if !known || len(s.record.Lost(timeline.NeedsOf(container, record.Exec{}), began.Time, is.Time)) > 0 {
			continue
		}
		if !slices.ContainsFunc(s.goodCommands()[container], func(ran command) bool {
			return ran.place > began.Place && ran.place < is.Place && slices.Equal(ran.args, probe)
		}) {
			return is, true
		}
	}
	return nil, false
}

// startOf is when a container was started, if that is known.
func (s *State) startOf(container, id string) (began timeline.Moment, known bool) {
	for _, ran := range s.record.Runs {
		if ran.Container == container && ran.Started != nil && id != "" && len(ran.Started.ID) > 0 && id == "skewrig://"+ran.Started.ID {
			return ran.From, true
		}
	}
	return began, false
}

func statusOf(v *timeline.Version, container string) *corev1.ContainerStatus {
	all := v.ContainerStatuses()
	if n := slices.IndexFunc(all, func(c corev1.ContainerStatus) bool { return c.Name == container }); n >= 0 {
		return &all[n]
	}
	return nil
}
