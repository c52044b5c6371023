package law

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// Bystanders judges workloads that no client mutates and that have no reason to change: through each restart of a component,
// they must stay as they are. The laws of what is untouched compare an object with how it was before a change, once that is
// undone; this looks at each version, from when the object has settled.
type Bystanders struct {
	*timeline.Timeline

	// SameSpec reports whether two versions have the same spec but for what an API server fills in.
	SameSpec func(was, is *timeline.Version) bool
}

// Stays looks at an object by its versions. It reports whether it could have changed: it settled, and a component
// was restarted afterwards. A fault says how it changed.
func (b Bystanders) Stays(versions []*timeline.Version) (looked bool, fault string) {
	switch first := versions[0]; {
	case first.Resource == "pods" && b.healthy(first):
		return b.podStays(versions)
	case first.Resource != "pods" && first.PodSpec() != nil:
		return b.workloadStays(versions)
	default:
		return false, ""
	}
}

// healthy reports whether a pod gave the kubelet no reason to do anything: each
// port that is probed was reached, each probe had a good answer, and no program
// ended by itself.
func (b Bystanders) healthy(v *timeline.Version) bool {
	pod := v.Meta().Namespace + "/" + v.Meta().Name
	probes := timeline.Probes(v.PodSpec())
	reached, tcp := make(map[int32]bool), make(map[int32]bool)
	for _, p := range probes {
		tcp[p.Port] = tcp[p.Port] || p.Kind == timeline.TCPSocket // is content with a connection
	}
	for _, c := range b.Connections {
		if timeline.PodOf(c.Container) != pod || b.CutOff(c, timeline.KubeletOf(v)) {
			continue
		}
		reached[c.Port] = true
		if !c.Succeeded() && !tcp[c.Port] {
			return false
		}
	}
	for _, ran := range b.Runs {
		if timeline.PodOf(ran.Container) == pod && ran.Exit != nil && ran.Exit.Signal == "" {
			return false
		}
	}
	for e, ran := range record.All[record.Exec](b.Events) {
		if timeline.PodOf(e.Subject) == pod && (ran.ExitCode != 0 || ran.Error != "") {
			return false
		}
	}
	return !slices.ContainsFunc(probes, func(p timeline.Probe) bool { return p.Kind != "" && !p.Hook && !reached[p.Port] })
}

// podStays holds the versions of a pod against the first one in which it is
// ready.
func (b Bystanders) podStays(versions []*timeline.Version) (looked bool, fault string) {
	i := slices.IndexFunc(versions, allReady)
	if i < 0 {
		return false, ""
	}
	restart, is := b.restartAfter(versions[i].Place)
	if !is {
		return false, ""
	}
	for i+1 < len(versions) && versions[i+1].Place < restart {
		i++ // a kubelet may take back for a moment that a young container is ready
	}
	settled := versions[i]
	if !allReady(settled) {
		return false, ""
	}
	for _, v := range versions[i+1:] {
		if what := b.changed(settled, v); what != "" {
			return true, v.Key + " " + what
		}
	}
	for _, v := range b.Versions {
		if v.Gone() && !v.Unserved() && v.Key == settled.Key && v.Meta().UID == settled.Meta().UID {
			return true, v.Key + " was deleted"
		}
	}
	return true, ""
}

// changed says what of a pod is not as it was, if anything.
func (b Bystanders) changed(was, is *timeline.Version) string {
	switch {
	case is.Meta().DeletionTimestamp != nil:
		return "was deleted"
	case !b.SameSpec(was, is):
		return "has another spec"
	case !slices.EqualFunc(was.ContainerStatuses(), is.ContainerStatuses(), sameContainer):
		return "has other containers"
	case !allReady(is) && !b.taken(was, is.Time):
		return "is not ready any more"
	default:
		return ""
	}
}

// allReady reports whether the containers of a pod are all ready.
func allReady(v *timeline.Version) bool {
	all := v.Pod().Status.ContainerStatuses
	return len(all) > 0 && !slices.ContainsFunc(all, func(c corev1.ContainerStatus) bool { return !c.Ready })
}

func sameContainer(was, is corev1.ContainerStatus) bool {
	return was.Name == is.Name && was.ContainerID == is.ContainerID && was.RestartCount == is.RestartCount
}

// Young is the age below which a kubelet that starts takes a container for one
// that it has started itself: see the regression kubernetes-100277.
const Young = 10 * time.Second

// taken reports whether a kubelet that started before the time found a
// container of the pod too young to believe that it is ready. When a container
// started is known to the second.
func (b Bystanders) taken(v *timeline.Version, at time.Time) bool {
	for _, kubelet := range b.Lives(timeline.KubeletOf(v)) {
		for _, c := range v.ContainerStatuses() {
			if c.State.Running == nil || kubelet.Launched.After(at) {
				continue
			}
			started := c.State.Running.StartedAt.Time
			if started.Before(kubelet.Launched) && kubelet.Launched.Before(started.Add(Young+time.Second)) {
				return true
			}
		}
	}
	return false
}

// workloadStays holds the versions of a Deployment or the like against the
// first one that its controller has taken up.
func (b Bystanders) workloadStays(versions []*timeline.Version) (looked bool, fault string) {
	const revision = "deployment.kubernetes.io/revision"
	i := slices.IndexFunc(versions, func(v *timeline.Version) bool {
		return v.Workload().Status.ObservedGeneration > 0
	})
	if i < 0 {
		return false, ""
	}
	if _, is := b.restartAfter(versions[i].Place); !is {
		return false, ""
	}
	settled := versions[i]
	for _, v := range versions[i+1:] {
		switch {
		case v.Meta().Generation != settled.Meta().Generation || !b.SameSpec(v, settled):
			return true, v.Key + " has another spec"
		case v.Meta().Annotations[revision] != settled.Meta().Annotations[revision]:
			return true, v.Key + " has another revision"
		}
	}
	return true, ""
}

// restartAfter is the place in the record at which the first restart of a component begins that
// ends after another place, and whether there is one. It begins when the process before has ended.
func (b Bystanders) restartAfter(at int) (first int, is bool) {
	for _, component := range b.Components() {
		for _, life := range b.Lives(component) {
			if begins := max(at, life.From.Place); life.Ready.Place > at && (!is || begins < first) {
				first, is = begins, true
			}
		}
	}
	return first, is
}
