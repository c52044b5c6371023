package oracle

import (
	"maps"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/model"
)

// observations are what probes of which kind put on the wire, and whether they
// had a good answer, by the releases and gates in force: those of the API server
// when the pod was created, and of the kubelet when it probed. Probes of which
// that is not certain are left out.
func (r *run) observations() []reports.Observation {
	seen := make(map[reports.Observation]bool)
	for _, c := range r.connections {
		if o, certain := r.observe(c); certain {
			seen[o] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), reports.Observation.Compare)
}

// preface is the method that a server of HTTP/1.1 sees in the preface of HTTP/2,
// and refuses (RFC 9113, section 3.4).
const preface = "PRI"

func (r *run) observe(c connection) (o reports.Observation, certain bool) {
	states := r.statesAt(c.pod(), c.Opened)
	succeeds := slices.ContainsFunc(c.Requests, good)
	understood := slices.ContainsFunc(c.Requests, func(r record.Request) bool { return r.Method != preface })
	ill := c.Fault != "" || understood && !succeeds // which says nothing of the wire
	if len(states) == 0 || c.First == record.FirstNothing || ill || r.cutOff(c, states[0].pod.NodeName) {
		return o, false
	}
	h, ok := r.wanted(states[0], c.Port)
	kubelets := r.around("kubelet/"+states[0].pod.NodeName, c.Opened)
	if !ok || len(kubelets) != 1 || r.rewritten(states[0], c) {
		return o, false
	}
	feature := featureOf(h)
	o = reports.Observation{
		Probe: describe(h), Server: string(c.Protocol), APIServer: "none (static pod)",
		Kubelet: withGate(kubelets[0].Component, feature), Wire: string(c.First), Succeeds: succeeds,
	}
	if states[0].Metadata.UID != "" {
		creator, isUp := r.serverAt(states[0].at)
		if !isUp {
			return o, false
		}
		o.APIServer = withGate(creator.Component, feature)
	}
	return o, true
}

// rewritten reports whether the kubelet may know the probe of a port otherwise
// than the pod was created with.
func (r *run) rewritten(created version, c connection) bool {
	first := created.pod.handlersOn(c.Port)
	return slices.ContainsFunc(r.knownAt(c), func(k known) bool {
		return !slices.EqualFunc(first, k.pod.handlersOn(c.Port), sameHandler)
	})
}

// sameHandler compares handlers, where HTTP1 is the same as nothing.
func sameHandler(a, b model.Handler) bool {
	for _, h := range []*model.Handler{&a, &b} {
		if h.Protocol == "HTTP1" {
			h.Protocol = ""
		}
	}
	return a == b
}

// wanted is the probe of a port as the scenario asked for it, or as it is stored
// if somebody else did. It is not ok if there are several.
func (r *run) wanted(pod version, port int32) (model.Handler, bool) {
	spec := pod.pod
	for _, a := range r.asked {
		if wanted, known := r.manifest(a); known && a.created && a.Metadata.UID == pod.Metadata.UID {
			spec = wanted.pod
		}
	}
	handlers := slices.Compact(spec.handlersOn(port))
	if spec.execs() || len(handlers) != 1 || handlers[0].Hook {
		return model.Handler{}, false
	}
	return handlers[0], true
}

func describe(h model.Handler) string {
	words := []string{string(h.Kind)}
	for _, field := range []struct{ name, value string }{
		{"mode", h.Mode}, {"scheme", h.Scheme}, {"protocol", h.Protocol},
	} {
		if field.value != "" && field.value != "HTTP" {
			words = append(words, field.name+"="+field.value)
		}
	}
	return strings.Join(words, " ")
}

func withGate(c model.Component, f model.Feature) string {
	switch {
	case !c.Knows(f):
		return string(c.Version)
	case c.Enabled(f):
		return string(c.Version) + " gate on"
	default:
		return string(c.Version) + " gate off"
	}
}
