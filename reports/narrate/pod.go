package narrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// pods are the pods of a rig, in the order of their first appearance. The zero
// value has none.
type pods struct {
	all       []*pod
	byName    map[string]*pod
	unhealthy []news // what kubelets say of probes that failed
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

// ran takes into account what the runtimes and the containers' servers did. It names
// all pods in the order of their first appearance.
func (p *pods) ran(b *builder) {
	for _, e := range b.Events {
		p.add(e, b.at(e.At))
	}
	for _, r := range b.Runs {
		l := p.of(r.Container)
		if r.Started != nil {
			l.becomes(b.at(r.From.Time), running(r))
		}
		if r.Exit != nil {
			l.ends(b.at(r.To.Time))
			l.exited(b, r)
		}
	}
}

func (p *pods) add(e record.Event, at float64) {
	switch e.Kind {
	case record.SandboxStarted{}.EventKind():
		one := p.named(e.Subject)
		one.node = strings.TrimPrefix(e.Source, "runtime/")
		if started, ok := record.As[record.SandboxStarted](e); ok && started.Attempt > 0 {
			one.state.mark(at, fmt.Sprintf("sandbox %d", started.Attempt+1), "the kubelet has given the pod another sandbox", Changed)
		}
	case record.ContainerStarted{}.EventKind(), record.ContainerExited{}.EventKind():
		p.of(e.Subject)
	case record.ImagePullFailed{}.EventKind():
		if failed, ok := record.As[record.ImagePullFailed](e); ok {
			p.named(e.Subject).state.mark(at, "image not pulled", shortened(failed.Ref+": "+failed.Error, maxMessage), Bad)
		}
	case record.ListenFailed{}.EventKind():
		if failed, ok := record.As[record.ListenFailed](e); ok {
			l := p.of(e.Subject)
			l.mark(at, fmt.Sprintf("no port %d", failed.Port), failed.Error, Bad)
		}
	case record.ObjectObserved{}.EventKind():
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
	if r.Exit.ExitCode == 0 && r.Exit.Signal == "" || pod != nil && isDeleting(pod.Fields()) {
		tone = ""
	}
	l.mark(b.at(r.To.Time), label, fmt.Sprintf("%s, after %.1f s, attempt %d", r.Exit.Reason, r.Exit.RanForSeconds, r.Exit.Attempt), tone)
}

func isDeleting(pod any) bool { return get(pod, "metadata", "deletionTimestamp") != nil }

// observed takes into account how the API server shows a pod.
func (p *pods) observed(o observed) {
	one := p.named(o.Namespace + "/" + o.Name)
	if o.Gone() {
		one.state.ends(o.at)
		one.state.mark(o.at, "gone", "", "")
		one.wasReady = false
		return
	}
	if node := text(o.body, "spec", "nodeName"); node != "" {
		one.node = node
	}
	one.state.becomes(o.at, one.shown(o.body))
}

// shown is what is to be said of a pod as it is.
func (one *pod) shown(body map[string]any) Span {
	ready, reason, message, _ := condition(body, "Ready")
	waiting := waitingFor(body)
	phase := text(body, "status", "phase")
	switch {
	case isDeleting(body):
		return Span{Label: "being deleted"}
	case phase == "Succeeded":
		return Span{Label: phase}
	case phase == "Failed":
		return Span{Label: phase, Detail: message, Tone: Bad}
	case ready == "True":
		one.wasReady = true
		return Span{Label: "Ready", Tone: Good}
	case phase == "Pending" && reason == "" && waiting == "":
		return Span{Label: "Pending"}
	}
	s := Span{Label: "not Ready", Detail: strings.TrimPrefix(reason+": "+message, ": ")}
	if waiting != "" {
		s.Label += ", " + waiting
	}
	if one.wasReady || strings.Contains(waiting, "Err") || strings.Contains(waiting, "BackOff") {
		s.Tone = Bad
	}
	return s
}

// waitingFor is why the first container that waits does.
func waitingFor(body map[string]any) string {
	for _, field := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, c := range list(body, "status", field) {
			if reason := text(c, "state", "waiting", "reason"); reason != "" && reason != "PodInitializing" {
				return reason
			}
		}
	}
	return ""
}

// routine are the events of a pod that its lanes show otherwise.
var routine = []string{"Scheduled", "Pulling", "Pulled", "Created", "Started"}

// news takes into account what is said of a pod. What is said of a probe belongs
// to its attempt.
func (p *pods) news(what news) {
	if what.kind != "Pod" || slices.Contains(routine, what.reason) {
		return
	}
	if what.reason == "Unhealthy" {
		p.unhealthy = append(p.unhealthy, what)
		return
	}
	tone := Tone("")
	if what.warning {
		tone = Bad
	}
	p.named(what.namespace+"/"+what.name).state.mark(what.at, what.reason, what.message, tone)
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
