package oracle

import (
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// nothingElseChanges looks at the bystanders: workloads that use no field, that
// the scenario leaves alone, and whose servers answer every probe well. From
// when they are settled, and through each restart of a component, they must
// stay as they are.
func nothingElseChanges(r *run) finding {
	var f finding
	for _, versions := range r.byUID {
		first := versions[0]
		switch {
		case !r.leftAlone(versions):
		case first.Resource == "pods":
			if r.healthy(first) {
				r.podStays(versions, &f)
			}
		case first.PodSpec() != nil:
			r.workloadStays(versions, &f)
		}
	}
	return f
}

// leftAlone reports whether an object uses no field, and neither does what it
// was made from, and whether the scenario has changed none of them.
func (r *run) leftAlone(versions []*timeline.Version) bool {
	first := versions[0]
	if slices.ContainsFunc(versions, r.uses) || r.touched(first) {
		return false
	}
	for _, owner := range first.Meta().OwnerReferences {
		for _, others := range r.byUID {
			if others[0].Meta().UID == owner.UID && !r.leftAlone(others) {
				return false
			}
		}
	}
	return true
}

// touched reports whether the scenario has changed or deleted an object, or
// wanted it to have a field.
func (r *run) touched(v *timeline.Version) bool {
	for _, a := range r.asked {
		if a.Object != v.Key || a.Response.Meta().UID != v.Meta().UID {
			continue
		}
		if wanted, known := r.manifest(a); !a.Created() || !known || r.uses(wanted) {
			return true
		}
	}
	return slices.ContainsFunc(r.cell.Steps, func(s plan.Step) bool {
		facts := s.Action.Facts()
		return facts.Deletes.String() == v.Key || facts.Static.Remove != "" && v.Name == facts.Static.Remove+"-"+facts.Static.Node
	}) || r.touchedFile(v)
}

// touchedFile reports whether the scenario has changed the file of a static pod, or
// wanted it to have a field.
func (r *run) touchedFile(v *timeline.Version) bool {
	written := 0
	for _, file := range r.Versions {
		if file.Static() && file.Key == v.Key {
			if written++; written > 1 || r.uses(file) {
				return true
			}
		}
	}
	return false
}

// healthy reports whether a pod gave the kubelet no reason to do anything: each
// port that is probed was reached, each probe had a good answer, and no program
// ended by itself.
func (r *run) healthy(v *timeline.Version) bool {
	pod := v.Meta().Namespace + "/" + v.Meta().Name
	probes := timeline.Probes(v.PodSpec())
	reached, tcp := make(map[int32]bool), make(map[int32]bool)
	for _, p := range probes {
		tcp[p.Port] = tcp[p.Port] || p.Kind == timeline.TCPSocket // is content with a connection
	}
	for _, c := range r.Connections {
		if timeline.PodOf(c.Container) != pod || r.CutOff(c, timeline.KubeletOf(v)) {
			continue
		}
		reached[c.Port] = true
		if !c.Succeeded() && !tcp[c.Port] {
			return false
		}
	}
	for _, ran := range r.Runs {
		if timeline.PodOf(ran.Container) == pod && ran.Exit != nil && ran.Exit.Signal == "" {
			return false
		}
	}
	for e, ran := range record.All[record.Exec](r.Events) {
		if timeline.PodOf(e.Subject) == pod && (ran.ExitCode != 0 || ran.Error != "") {
			return false
		}
	}
	return !slices.ContainsFunc(probes, func(p timeline.Probe) bool { return p.Kind != "" && !p.Hook && !reached[p.Port] })
}

// podStays holds the versions of a pod against the first one in which it is
// ready.
func (r *run) podStays(versions []*timeline.Version, f *finding) {
	i := slices.IndexFunc(versions, allReady)
	if i < 0 {
		return
	}
	restart, is := r.restartAfter(versions[i].Place)
	if !is {
		return
	}
	for i+1 < len(versions) && versions[i+1].Place < restart {
		i++ // a kubelet may take back for a moment that a young container is ready
	}
	settled := versions[i]
	if !allReady(settled) {
		return
	}
	f.looked++
	for _, v := range versions[i+1:] {
		if what := r.changed(settled, v); what != "" {
			f.fault("%s %s", v.Key, what)
			return
		}
	}
	for _, v := range r.Versions {
		if v.Gone() && !v.Unserved() && v.Key == settled.Key && v.Meta().UID == settled.Meta().UID {
			f.fault("%s was deleted", v.Key)
		}
	}
}

// changed says what of a pod is not as it was, if anything.
func (r *run) changed(was, is *timeline.Version) string {
	switch {
	case is.Meta().DeletionTimestamp != nil:
		return "was deleted"
	case !r.sameSpec(was, is):
		return "has another spec"
	case !slices.EqualFunc(statuses(was), statuses(is), sameContainer):
		return "has other containers"
	case !allReady(is) && !r.taken(was, is.Time):
		return "is not ready any more"
	default:
		return ""
	}
}

// sameSpec reports whether two objects have the same spec but for what an API server
// fills in, which field-survival follows.
func (r *run) sameSpec(was, is *timeline.Version) bool {
	if reflect.DeepEqual(was.Fields()["spec"], is.Fields()["spec"]) {
		return true
	}
	return reflect.DeepEqual(r.withoutDefaults(was)["spec"], r.withoutDefaults(is)["spec"])
}

func (r *run) withoutDefaults(v *timeline.Version) map[string]any {
	object := timeline.NewRaw(v.Text()).Fields() // others have the fields of the version
	for _, f := range r.Fields {
		f.WithoutDefault(v.Resource, object)
	}
	return object
}

// statuses are those of all containers of a pod.
func statuses(v *timeline.Version) []corev1.ContainerStatus {
	return slices.Concat(v.Pod().Status.InitContainerStatuses, v.Pod().Status.ContainerStatuses)
}

// allReady reports whether the containers of a pod are all ready.
func allReady(v *timeline.Version) bool {
	all := v.Pod().Status.ContainerStatuses
	return len(all) > 0 && !slices.ContainsFunc(all, func(c corev1.ContainerStatus) bool { return !c.Ready })
}

func sameContainer(was, is corev1.ContainerStatus) bool {
	return was.Name == is.Name && was.ContainerID == is.ContainerID && was.RestartCount == is.RestartCount
}

// young is the age below which a kubelet that starts takes a container for one
// that it has started itself: see the regression kubernetes-100277.
const young = 10 * time.Second

// taken reports whether a kubelet that started before the time found a
// container of the pod too young to believe that it is ready. When a container
// started is known to the second.
func (r *run) taken(v *timeline.Version, at time.Time) bool {
	for _, kubelet := range r.Lives(timeline.KubeletOf(v)) {
		for _, c := range statuses(v) {
			if c.State.Running == nil || kubelet.Launched.After(at) {
				continue
			}
			started := c.State.Running.StartedAt.Time
			if started.Before(kubelet.Launched) && kubelet.Launched.Before(started.Add(young+time.Second)) {
				return true
			}
		}
	}
	return false
}

// workloadStays holds the versions of a Deployment or the like against the
// first one that its controller has taken up.
func (r *run) workloadStays(versions []*timeline.Version, f *finding) {
	const revision = "deployment.kubernetes.io/revision"
	i := slices.IndexFunc(versions, func(v *timeline.Version) bool {
		return v.Workload().Status.ObservedGeneration > 0
	})
	if i < 0 {
		return
	}
	if _, is := r.restartAfter(versions[i].Place); !is {
		return
	}
	f.looked++
	settled := versions[i]
	for _, v := range versions[i+1:] {
		switch {
		case v.Meta().Generation != settled.Meta().Generation || !r.sameSpec(v, settled):
			f.fault("%s has another spec", v.Key)
			return
		case v.Meta().Annotations[revision] != settled.Meta().Annotations[revision]:
			f.fault("%s has another revision", v.Key)
			return
		}
	}
}

// restartAfter is the place in the record at which the first restart of a component begins that
// ends after another place, and whether there is one. It begins when the process before has ended.
func (r *run) restartAfter(at int) (first int, is bool) {
	for _, component := range r.Components() {
		for _, life := range r.Lives(component) {
			if begins := max(at, life.From.Place); life.Ready.Place > at && (!is || begins < first) {
				first, is = begins, true
			}
		}
	}
	return first, is
}
