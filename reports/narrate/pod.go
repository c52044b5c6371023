package narrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// pods are the pods of a rig, in the order of their first appearance. The zero
// value has none.
type pods struct {
	all       []*pod
	byName    map[string]*pod
	unhealthy []timeline.Happening // what kubelets say of probes that failed
}

// pod is one pod: namespace/name. Another one of the same name goes on where it
// ended.
type pod struct {
	name, node string
	state      lane // as the API server shows it
	containers lanes
	wasReady   bool
}

func (p *pods) named(name string) *pod {
	if p.byName == nil {
		p.byName = make(map[string]*pod)
	}
	if p.byName[name] == nil {
		p.byName[name] = &pod{name: name, state: lane{Lane: Lane{Name: "pods/" + name, Kind: ObjectState}}}
		p.all = append(p.all, p.byName[name])
	}
	return p.byName[name]
}

// of is the lane of a container, in that of its pod.
func (p *pods) of(container string) *lane {
	return p.named(timeline.PodOf(container)).containers.named(Container, container)
}

// ran takes into account what the programs of containers did.
func (b *builder) ran() {
	for _, r := range b.Runs {
		l := b.pods.of(r.Container)
		if r.Started != nil {
			l.becomes(b.at(r.From.Time), running(r))
		}
		if r.Exit != nil {
			l.ends(b.at(r.To.Time))
			l.exited(b, r)
		}
	}
}

// add takes into account what runtimes did, and names all pods in the order of their
// first appearance.
func (p *pods) add(e timeline.Entry, at float64) {
	switch payload := e.Payload.(type) {
	case record.SandboxStarted:
		one := p.named(e.Subject)
		one.node = strings.TrimPrefix(e.Source, "runtime/")
		if payload.Attempt > 0 {
			one.state.mark(at, fmt.Sprintf("sandbox %d", payload.Attempt+1), "the kubelet has given the pod another sandbox", Changed)
		}
	case record.ContainerStarted, record.ContainerExited:
		p.of(e.Subject)
	case record.ImagePullFailed:
		p.named(e.Subject).state.mark(at, "image not pulled", shortened(payload.Ref+": "+payload.Error, maxMessage), Bad)
	case record.ListenFailed:
		p.of(e.Subject).mark(at, fmt.Sprintf("no port %d", payload.Port), payload.Error, Bad)
	case record.ObjectObserved:
		if pod, is := strings.CutPrefix(e.Subject, "pods/"); is {
			p.named(pod)
		}
	}
}

func running(r *timeline.Run) Span {
	s := Span{Label: "running", Detail: shortened(r.Started.Image+" "+strings.Join(r.Started.Args, " "), maxText)}
	if r.Started.Attempt > 0 {
		s.Label, s.Tone = fmt.Sprintf("running, attempt %d", r.Started.Attempt), Changed
	}
	for _, on := range r.Listening {
		s.Detail += fmt.Sprintf("\nlistens on :%d, %s", on.Port, on.Protocol)
	}
	return s
}

// exited marks how a program ended. That it ended with the rig, or with its pod, says
// nothing.
func (l *lane) exited(b *builder, r *timeline.Run) {
	if b.at(r.To.Time) > b.over {
		return
	}
	label, tone := fmt.Sprintf("exit %d", r.Exit.ExitCode), Bad
	if r.Exit.Signal != "" {
		label += ", " + r.Exit.Signal
	}
	pod := b.Before("pods/"+timeline.PodOf(r.Container), r.To.Place)
	if r.Exit.ExitCode == 0 && r.Exit.Signal == "" || pod != nil && pod.Meta().DeletionTimestamp != nil {
		tone = ""
	}
	l.mark(b.at(r.To.Time), label, fmt.Sprintf("%s, after %.1f s, attempt %d", r.Exit.Reason, r.Exit.RanForSeconds, r.Exit.Attempt), tone)
}

// observed takes into account how the API server shows a pod.
func (p *pods) observed(v *timeline.Version, at float64) {
	one := p.named(v.Namespace + "/" + v.Name)
	if v.Gone() {
		one.state.ends(at)
		one.state.mark(at, "gone", "", "")
		one.wasReady = false
		return
	}
	one.node = cmp.Or(v.Pod().Spec.NodeName, one.node)
	one.state.becomes(at, one.shown(v))
}

// shown is what is to be said of a pod as it is.
func (one *pod) shown(v *timeline.Version) Span {
	pod, ready := v.Pod(), v.Condition("Ready")
	waiting := waitingFor(pod.Status)
	switch phase := pod.Status.Phase; {
	case pod.DeletionTimestamp != nil:
		return Span{Label: "being deleted"}
	case phase == corev1.PodSucceeded:
		return Span{Label: string(phase)}
	case phase == corev1.PodFailed:
		return Span{Label: string(phase), Detail: ready.Message, Tone: Bad}
	case ready.Status == "True":
		one.wasReady = true
		return Span{Label: "Ready", Tone: Good}
	case phase == corev1.PodPending && ready.Reason == "" && waiting == "":
		return Span{Label: string(phase)}
	}
	s := Span{Label: "not Ready", Detail: strings.TrimPrefix(ready.Reason+": "+ready.Message, ": ")}
	if waiting != "" {
		s.Label += ", " + waiting
	}
	if one.wasReady || strings.Contains(waiting, "Err") || strings.Contains(waiting, "BackOff") {
		s.Tone = Bad
	}
	return s
}

// waitingFor is why the first container that waits does.
func waitingFor(status corev1.PodStatus) string {
	for _, c := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" {
			return w.Reason
		}
	}
	return ""
}

// routine are the events of a pod that its lanes show otherwise.
var routine = []string{"Scheduled", "Pulling", "Pulled", "Created", "Started"}

// happened takes into account what is said of a pod. What is said of a probe belongs
// to its attempt.
func (p *pods) happened(h timeline.Happening, at float64) {
	switch {
	case slices.Contains(routine, h.Reason):
	case h.Reason == "Unhealthy":
		p.unhealthy = append(p.unhealthy, h)
	default:
		tone := Tone("")
		if h.Type == corev1.EventTypeWarning {
			tone = Warned
		}
		p.named(h.About.Namespace+"/"+h.About.Name).state.mark(at, h.Reason, h.Message, tone)
	}
}

// lanes are those of each pod: how it is shown, its containers, and the probes of
// each.
func (p *pods) lanes(end float64, probes map[string][]Lane) (all []Lane) {
	for _, container := range slices.Sorted(maps.Keys(probes)) {
		p.of(container) // its runtime may not have been heard of
	}
	for _, one := range p.all {
		state := one.state.until(end)
		group := one.name
		if one.node != "" {
			group += " on " + one.node
		}
		first := len(all)
		if len(state.Spans)+len(state.Marks) > 0 {
			all = append(all, state)
		}
		for _, c := range one.containers.until(end) {
			if len(c.Spans)+len(c.Marks) > 0 {
				all = append(all, c)
			}
			all = append(all, probes[c.Name]...)
		}
		for i := range all[first:] {
			all[first+i].Group = group
		}
	}
	return all
}
