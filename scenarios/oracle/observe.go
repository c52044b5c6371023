package oracle

import (
	"maps"
	"slices"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/model"
)

// observations are what probes of which kind put on the wire, and whether they
// had a good answer, by the releases and gates in force: those of the API server
// when the pod was created, and of the kubelet when it probed. Probes of which
// that is not certain are left out.
func (r *run) observations() []reports.Observation {
	seen := make(map[reports.Observation]bool)
	for _, c := range r.Connections {
		if o, certain := r.observe(c); certain {
			seen[o] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), reports.Observation.Compare)
}

// preface is the method that a server of HTTP/1.1 sees in the preface of HTTP/2,
// and refuses (RFC 9113, section 3.4).
const preface = "PRI"

func (r *run) observe(c *timeline.Connection) (o reports.Observation, certain bool) {
	states := r.StatesAt(c)
	succeeds := c.Succeeded()
	understood := slices.ContainsFunc(c.Requests, func(r record.Request) bool { return r.Method != preface })
	ill := c.Fault != "" || understood && !succeeds // which says nothing of the wire
	if len(states) == 0 || c.First == record.FirstNothing || ill || r.CutOff(c, timeline.KubeletOf(states[0])) {
		return o, false
	}
	h, ok := r.wanted(states[0], c.Port)
	kubelets := slices.DeleteFunc(r.Around(timeline.KubeletOf(states[0]), c.Opened), func(l *timeline.Life) bool { return r.endedBefore(l, states[0]) })
	if !ok || len(kubelets) != 1 || r.rewritten(states[0], c) {
		return o, false
	}
	o = reports.Observation{
		Probe: r.Describe(h), Server: string(c.Protocol), APIServer: "none (static pod)",
		Kubelet: r.DescribeComponent(component(kubelets[0]), h.Kind), Wire: string(c.First), Succeeds: succeeds,
	}
	if states[0].Meta().UID != "" {
		creator, isUp := r.creator(states[0])
		if !isUp {
			return o, false
		}
		o.APIServer = r.DescribeComponent(component(creator), h.Kind)
	}
	return o, true
}

// endedBefore reports whether a kubelet had ended when the request began that created a pod.
func (r *run) endedBefore(kubelet *timeline.Life, pod *timeline.Version) bool {
	i := slices.IndexFunc(r.Answers, func(a *timeline.Answer) bool { return a.Created() && a.Response.Meta().UID == pod.Meta().UID })
	if i < 0 || pod.Meta().UID == "" {
		return false
	}
	step := r.StepAt(r.Answers[i].Place)
	return step != nil && kubelet.Until.Place < step.From.Place
}

// rewritten reports whether the kubelet may know the probe of a port otherwise
// than the pod was created with.
func (r *run) rewritten(created *timeline.Version, c *timeline.Connection) bool {
	first := r.handlersOn(created, c.Port, false)
	return slices.ContainsFunc(r.KnownAt(c), func(k timeline.Known) bool {
		return !slices.EqualFunc(first, r.handlersOn(k.Pod, c.Port, false), model.Handler.Same)
	})
}

// wanted is the probe of a port as the scenario asked for it, or as it is stored
// if another client created it. It is not ok if there are several.
func (r *run) wanted(pod *timeline.Version, port int32) (model.Handler, bool) {
	object := pod
	for _, a := range r.asked {
		if wanted, known := r.manifest(a); known && a.Created() && a.Response.Meta().UID == pod.Meta().UID {
			object = wanted
		}
	}
	handlers := slices.CompactFunc(r.handlersOn(object, port, true), model.Handler.Same)
	if timeline.Execs(object.PodSpec()) || len(handlers) != 1 || handlers[0].Hook {
		return model.Handler{}, false
	}
	return handlers[0], true
}
