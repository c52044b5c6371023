package oracle

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/model"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Attempt is a connection to a container, beside what is known of who opened it.
type Attempt struct {
	// Container is namespace/pod/container.
	Container string
	record.Connection
	// Probes are the probes and hooks that may have opened it, sorted and without
	// repetition. It is empty if none can have.
	Probes []Probe
	// Predicted is what the connection may begin with, by the model. It is empty
	// if the model can't say. An attempt that was given up may begin with nothing.
	Predicted []Prediction
	// Succeeded is true if a probe is content with what came of it.
	Succeeded bool
	// CutOff is true if it ended without a whole answer because its kubelet did.
	CutOff bool
}

// Probe is a probe or a hook of a container, which may be another one of the pod
// than the one that it asks.
type Probe struct {
	// Container is namespace/pod/container.
	Container string
	// Name is "readiness", "preStop"; What is what it does: "grpc mode=TLS :5000".
	Name, What string
}

// Prediction is what a kubelet sends first.
type Prediction struct {
	First record.First
	// Kubelet is the release, and how the gate of the probe's field is set if the
	// probe uses the field: "v1.37.1 gate on".
	Kubelet string
	// Understood is true if the server makes sense of it.
	Understood bool
	// Over is true if that kubelet had ended when the connection was opened. It is
	// to be reckoned with all the same, since a connection may wait to be accepted.
	Over bool
}

// Expected reports whether the attempt began as it could have been expected to,
// or was given up before it began. It does not say that the model had a say.
func (a Attempt) Expected() bool {
	return len(a.Predicted) == 0 || a.First == record.FirstNothing ||
		slices.ContainsFunc(a.Predicted, func(p Prediction) bool { return p.First == a.First })
}

// Unended reports whether the server sent the headers of an answer, and then
// nothing of its body for as long as the connection lasted.
func (a Attempt) Unended() bool { return unended(a.Connection) }

func unended(c record.Connection) bool {
	return c.Fault == behavior.StallAfterHeaders && c.Answered()
}

// Attempts are all connections to containers, in the order in which they were
// opened.
func Attempts(cell plan.Cell, events []record.Event) []Attempt {
	if !slices.ContainsFunc(events, func(e record.Event) bool { return e.Kind == (record.Connection{}).EventKind() }) {
		return nil
	}
	r := newRun(cell, slices.DeleteFunc(slices.Clone(events), saysNothing))
	var all []Attempt
	for _, c := range r.connections {
		all = append(all, r.attempt(c))
	}
	slices.SortStableFunc(all, func(a, b Attempt) int { return a.Opened.Compare(b.Opened) })
	return all
}

// saysNothing reports whether an event says nothing of pods and kubelets.
func saysNothing(e record.Event) bool {
	switch e.Kind {
	case record.ObjectObserved{}.EventKind():
		return !strings.HasPrefix(e.Subject, "pods/")
	case record.APIAnswer{}.EventKind():
		return true
	default:
		return false
	}
}

func (r *run) attempt(c connection) Attempt {
	// A kubelet reads the body, too: headers alone are no success.
	a := Attempt{Container: c.container, Connection: c.Connection, Succeeded: slices.ContainsFunc(c.Requests, good) && !unended(c.Connection)}
	for _, known := range r.knownAt(c) {
		a.CutOff = a.CutOff || (!c.Answered() || unended(c.Connection)) && r.endedWithKubelet(c, known.pod.NodeName)
		if len(c.Requests) == 0 && known.pod.execs() {
			a.Probes, a.Predicted = nil, nil
			return a // the program may be the client, as in predict
		}
		for _, p := range known.pod.placesOf(c) {
			h, _ := p.handler()
			pod, _ := path.Split(c.container)
			a.Probes = append(a.Probes, Probe{pod + p.container.Name, p.name(), fmt.Sprintf("%s :%d", describe(h.Handler), h.port)})
			first := model.Wire(h.Handler, known.kubelet.Component)
			understood := h.Kind == model.TCPSocket || model.CanSucceed(first, c.Protocol)
			a.Predicted = append(a.Predicted, Prediction{first, actsAs(known.kubelet.Component, h.Handler), understood, !known.kubelet.untilTime.After(c.Opened)})
			contentWithNothing := h.Kind == model.TCPSocket && c.First == record.FirstNothing
			a.Succeeded = a.Succeeded || contentWithNothing
		}
	}
	slices.SortFunc(a.Probes, func(a, b Probe) int {
		return cmp.Or(cmp.Compare(a.Container, b.Container), cmp.Compare(a.Name, b.Name), cmp.Compare(a.What, b.What))
	})
	a.Probes = slices.Compact(a.Probes)
	slices.SortFunc(a.Predicted, func(a, b Prediction) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Kubelet, b.Kubelet), cmp.Compare(strconv.FormatBool(a.Over), strconv.FormatBool(b.Over)))
	})
	a.Predicted = slices.Compact(a.Predicted)
	return a
}

// placesOf returns the probes and hooks that may have opened a connection: those
// of its port, and of them those that ask for what it asked for, if there is one.
func (s *podSpec) placesOf(c connection) (all []place) {
	var asked []place
	for _, p := range s.places() {
		h, connects := p.handler()
		if !connects || h.port != c.Port || !mayBe(c, h.Handler) {
			continue
		}
		all = append(all, p)
		if p.asks(c) {
			asked = append(asked, p)
		}
	}
	if len(asked) > 0 {
		return asked
	}
	return all
}

// asks reports whether a connection's first request is the action's.
func (p place) asks(c connection) bool {
	if len(c.Requests) == 0 {
		return false
	}
	switch first := c.Requests[0]; {
	case p.GRPC != nil:
		return first.Service != nil && *first.Service == p.GRPC.Service
	case p.HTTPGet != nil:
		return askedFirst(first) == cmp.Or(p.HTTPGet.Path, "/")
	default:
		return false
	}
}

// askedFirst is the path that led to a request: its own, or the one that redirected
// to it, which clients name. After several redirects that is none of a probe's.
func askedFirst(r record.Request) string {
	referers := r.Headers["Referer"]
	if len(referers) == 0 {
		return r.Path
	}
	from, err := url.Parse(referers[0])
	if err != nil {
		return "" // it is nobody's then
	}
	return from.RequestURI()
}

// name is what people call a probe or a hook: "readiness", "preStop".
func (p place) name() string { return strings.TrimSuffix(path.Base(p.path), "Probe") }

// actsAs is what there is to know of a kubelet to say how its handler begins.
func actsAs(kubelet model.Component, h model.Handler) string {
	if h.Mode == "" && h.Protocol == "" {
		return string(kubelet.Version)
	}
	return withGate(kubelet, featureOf(h))
}

// featureOf is the field that says how a handler begins.
func featureOf(h model.Handler) model.Feature {
	if h.Kind == model.GRPC {
		return model.GRPCMode
	}
	return model.HTTPProtocol
}
