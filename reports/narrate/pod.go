package narrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
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
	deleting   bool
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

// of is the pod of a container, and the container's lane.
func (p *pods) of(container string) (*pod, *lane) {
	one := p.named(podOf(container))
	return one, one.containers.named(Container, container)
}

// podOf is the pod of a container: all but the last part of its name.
func podOf(container string) string { return container[:max(0, strings.LastIndex(container, "/"))] }

// add takes into account what the runtimes and the containers' servers did.
func (p *pods) add(b *builder, e record.Event, at float64) {
	switch e.Kind {
	case record.SandboxStarted{}.EventKind():
		one := p.named(e.Subject)
		one.node = strings.TrimPrefix(e.Source, "runtime/")
		if started, ok := record.As[record.SandboxStarted](e); ok && started.Attempt > 0 {
			one.state.mark(at, fmt.Sprintf("sandbox %d", started.Attempt+1), "the kubelet has given the pod another sandbox", Changed)
		}
	case record.ContainerStarted{}.EventKind():
		p.started(e, at)
	case record.ContainerExited{}.EventKind():
		p.exited(e, at, at > b.over)
	case record.ImagePullFailed{}.EventKind():
		if failed, ok := record.As[record.ImagePullFailed](e); ok {
			p.named(e.Subject).state.mark(at, "image not pulled", shortened(failed.Ref+": "+failed.Error, maxMessage), Bad)
		}
	case record.Listening{}.EventKind():
		if on, ok := record.As[record.Listening](e); ok {
			_, l := p.of(e.Subject)
			l.adds(fmt.Sprintf("listens on :%d, %s", on.Port, on.Protocol))
		}
	case record.ListenFailed{}.EventKind():
		if failed, ok := record.As[record.ListenFailed](e); ok {
			_, l := p.of(e.Subject)
			l.mark(at, fmt.Sprintf("no port %d", failed.Port), failed.Error, Bad)
		}
	}
}

// adds adds a line to what is said of what is the case now.
func (l *lane) adds(line string) {
	if l.open != nil {
		l.open.Detail += "\n" + line
	}
}

func (p *pods) started(e record.Event, at float64) {
	started, ok := record.As[record.ContainerStarted](e)
	if !ok {
		return
	}
	_, l := p.of(e.Subject)
	s := Span{Label: "running", Detail: shortened(started.Image+" "+strings.Join(started.Args, " "), maxText)}
	if started.Attempt > 0 {
		s.Label, s.Tone = fmt.Sprintf("running, attempt %d", started.Attempt), Changed
	}
	l.becomes(at, s)
}

// exited ends a container. That it ends with the rig, or with its pod, says
// nothing.
func (p *pods) exited(e record.Event, at float64, withRig bool) {
	exit, ok := record.As[record.ContainerExited](e)
	if !ok {
		return
	}
	one, l := p.of(e.Subject)
	l.ends(at)
	if withRig {
		return
	}
	label, tone := fmt.Sprintf("exit %d", exit.ExitCode), Bad
	if exit.Signal != "" {
		label += ", " + exit.Signal
	}
	if one.deleting || exit.ExitCode == 0 && exit.Signal == "" {
		tone = ""
	}
	l.mark(at, label, fmt.Sprintf("%s, after %.1f s, attempt %d", exit.Reason, exit.RanForSeconds, exit.Attempt), tone)
}

// observed takes into account how the API server shows a pod.
func (p *pods) observed(o observed) {
	one := p.named(o.Namespace + "/" + o.Name)
	if o.Gone() {
		one.state.ends(o.at)
		one.state.mark(o.at, "gone", "", "")
		one.wasReady, one.deleting = false, false
		return
	}
	if node := text(o.body, "spec", "nodeName"); node != "" {
		one.node = node
	}
	one.deleting = get(o.body, "metadata", "deletionTimestamp") != nil
	one.state.becomes(o.at, one.shown(o.body))
}

// shown is what is to be said of a pod as it is.
func (one *pod) shown(body map[string]any) Span {
	ready, reason, message, _ := condition(body, "Ready")
	waiting := waitingFor(body)
	phase := text(body, "status", "phase")
	switch {
	case one.deleting:
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
		one.state.ends(end)
		group := one.name
		if one.node != "" {
			group += " on " + one.node
		}
		first := len(all)
		if len(one.state.Spans)+len(one.state.Marks) > 0 {
			all = append(all, one.state.Lane)
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
