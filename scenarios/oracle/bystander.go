package oracle

import (
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/model"
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
		switch resource, _, _ := strings.Cut(first.name, "/"); {
		case !r.leftAlone(versions) || first.mirror():
		case resource == "pods":
			if r.healthy(first) {
				r.podStays(versions, &f)
			}
		case first.template:
			r.workloadStays(versions, &f)
		}
	}
	return f
}

// leftAlone reports whether an object uses no field, and neither does what it
// was made from, and whether the scenario has changed none of them.
func (r *run) leftAlone(versions []version) bool {
	for _, v := range versions {
		if v.uses() {
			return false
		}
	}
	first := versions[0]
	if r.touched(first) {
		return false
	}
	for _, owner := range first.Metadata.OwnerReferences {
		for _, others := range r.byUID {
			if others[0].Metadata.UID == owner.UID && !r.leftAlone(others) {
				return false
			}
		}
	}
	return true
}

// touched reports whether the scenario has changed or deleted an object, or
// wanted it to have a field.
func (r *run) touched(v version) bool {
	for _, a := range r.asked {
		if a.name != v.name || a.Metadata.UID != v.Metadata.UID {
			continue
		}
		if wanted, known := r.manifest(a); !a.created || !known || wanted.uses() {
			return true
		}
	}
	return slices.ContainsFunc(r.cell.Steps, func(s plan.Step) bool {
		d, is := s.Action.(plan.Delete)
		return is && d.Object.String() == v.name
	})
}

// healthy reports whether a pod gave the kubelet no reason to do anything: each
// port that is probed was reached, each probe had a good answer, and no program
// ended by itself.
func (r *run) healthy(v version) bool {
	pod := v.Metadata.Namespace + "/" + v.Metadata.Name + "/"
	reached, tcp := make(map[int32]bool), make(map[int32]bool)
	for _, p := range v.pod.places() {
		if h, connects := p.handler(); connects && h.Kind == model.TCPSocket {
			tcp[h.port] = true // is content with a connection
		}
	}
	for _, c := range r.connections {
		if !strings.HasPrefix(c.container, pod) || r.cutOff(c, v.pod.NodeName) {
			continue
		}
		reached[c.Port] = true
		if !slices.ContainsFunc(c.Requests, good) && !tcp[c.Port] {
			return false
		}
	}
	for e, exit := range record.All[record.ContainerExited](r.events) {
		if strings.HasPrefix(e.Subject, pod) && exit.Signal == "" {
			return false
		}
	}
	for e, ran := range record.All[record.Exec](r.events) {
		if strings.HasPrefix(e.Subject, pod) && (ran.ExitCode != 0 || ran.Error != "") {
			return false
		}
	}
	for _, p := range v.pod.places() {
		if h, connects := p.handler(); connects && !p.hook && !reached[h.port] {
			return false
		}
	}
	return true
}

// podStays holds the versions of a pod against the first one in which it is
// ready.
func (r *run) podStays(versions []version, f *finding) {
	i := slices.IndexFunc(versions, func(v version) bool { return v.allReady() })
	if i < 0 || !r.restartsAfter(versions[i].at) {
		return
	}
	f.looked++
	settled := versions[i]
	for _, v := range versions[i+1:] {
		if what := r.changed(settled, v); what != "" {
			f.fault("%s %s", v.name, what)
			return
		}
	}
	for _, v := range r.byName[settled.name] {
		if v.gone && v.Metadata.UID == settled.Metadata.UID {
			f.fault("%s was deleted", v.name)
		}
	}
}

// changed says what of a pod is not as it was, if anything.
func (r *run) changed(was, is version) string {
	switch {
	case is.Metadata.DeletionTimestamp != "":
		return "was deleted"
	case !sameSpec(was.object, is.object):
		return "has another spec"
	case !slices.EqualFunc(was.Status.all(), is.Status.all(), sameContainer):
		return "has other containers"
	case !is.allReady() && !r.taken(was, is.time):
		return "is not ready any more"
	default:
		return ""
	}
}

func sameContainer(was, is containerStatus) bool {
	return was.Name == is.Name && was.ContainerID == is.ContainerID && was.RestartCount == is.RestartCount
}

// young is the age below which a kubelet that starts takes a container for one
// that it has started itself: see the regression kubernetes-100277.
const young = 10 * time.Second

// taken reports whether a kubelet that started before the time found a
// container of the pod too young to believe that it is ready. When a container
// started is known to the second.
func (r *run) taken(v version, at time.Time) bool {
	for _, kubelet := range r.lives["kubelet/"+v.pod.NodeName] {
		for _, c := range v.Status.all() {
			if c.State.Running == nil || kubelet.started.After(at) {
				continue
			}
			started, err := time.Parse(time.RFC3339, c.State.Running.StartedAt)
			if err == nil && started.Before(kubelet.started) && kubelet.started.Before(started.Add(young+time.Second)) {
				return true
			}
		}
	}
	return false
}

// workloadStays holds the versions of a Deployment or the like against the
// first one that its controller has taken up.
func (r *run) workloadStays(versions []version, f *finding) {
	const revision = "deployment.kubernetes.io/revision"
	i := slices.IndexFunc(versions, func(v version) bool {
		return v.Status.ObservedGeneration > 0
	})
	if i < 0 || !r.restartsAfter(versions[i].at) {
		return
	}
	f.looked++
	settled := versions[i]
	for _, v := range versions[i+1:] {
		switch {
		case v.Metadata.Generation != settled.Metadata.Generation || !sameSpec(v.object, settled.object):
			f.fault("%s has another spec", v.name)
			return
		case v.Metadata.Annotations[revision] != settled.Metadata.Annotations[revision]:
			f.fault("%s has another revision", v.name)
			return
		}
	}
}

// restartsAfter reports whether a component was started after a place in the
// record.
func (r *run) restartsAfter(at int) bool {
	for _, lives := range r.lives {
		if lives[len(lives)-1].ready > at {
			return true
		}
	}
	return false
}
