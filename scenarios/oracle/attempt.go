package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
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
	// probe uses the field: "v1.90.1 gate on".
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
func (a Attempt) Unended() bool {
	return a.Fault == behavior.StallAfterHeaders && a.Answered()
}

// Attempts are all connections to containers, in the order in which they were
// opened.
func Attempts(cell plan.Cell, events []record.Event) (all []Attempt) {
	r := &run{Timeline: timeline.Of(events), Rules: rules(), cell: cell}
	for _, c := range r.Connections {
		all = append(all, r.attempt(c))
	}
	slices.SortStableFunc(all, func(a, b Attempt) int { return a.Opened.Compare(b.Opened) })
	return all
}

func (r *run) attempt(c *timeline.Connection) Attempt {
	// A kubelet reads the body, too: headers alone are no success.
	a := Attempt{Container: c.Container, Connection: c.Connection, Succeeded: c.Succeeded() && !c.Unended()}
	for _, known := range r.KnownAt(c) {
		pod := known.Pod.PodSpec()
		a.CutOff = a.CutOff || (!c.Answered() || c.Unended()) && r.EndedWithKubelet(c, timeline.KubeletOf(known.Pod))
		if len(c.Requests) == 0 && timeline.Execs(pod) {
			a.Probes, a.Predicted = nil, nil
			return a // the program may be the client, as in predict
		}
		for _, p := range c.Among(timeline.Probes(pod)) {
			h := r.handler(known.Pod, p, true)
			a.Probes = append(a.Probes, Probe{
				Container: timeline.PodOf(c.Container) + "/" + p.Container, Name: p.Name, What: fmt.Sprintf("%s :%d", r.Describe(h), p.Port),
			})
			first := r.Wire(h, component(known.Kubelet))
			a.Predicted = append(a.Predicted, Prediction{
				First: first, Kubelet: r.actsAs(component(known.Kubelet), h),
				Understood: h.Kind == model.TCPSocket || model.CanSucceed(first, c.Protocol),
				Over:       !known.Kubelet.Until.Time.After(c.Opened),
			})
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

// actsAs is what there is to know of a kubelet to say how its handler begins.
func (r *run) actsAs(kubelet model.Component, h model.Handler) string {
	if len(h.Values) == 0 {
		return string(kubelet.Version)
	}
	return r.DescribeComponent(kubelet, h.Kind)
}
