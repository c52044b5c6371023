package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/model"
)

// Attempts are all connections to containers, in the order in which they were
// opened.
func Attempts(events []record.Event) (all []reports.Attempt) {
	r := &run{Timeline: timeline.Of(events), Rules: rules()}
	for _, c := range r.Connections {
		all = append(all, r.attempt(c))
	}
	slices.SortStableFunc(all, func(a, b reports.Attempt) int { return a.Opened.Compare(b.Opened) })
	follow(all)
	return all
}

func (r *run) attempt(c *timeline.Connection) reports.Attempt {
	// A kubelet reads the body, too: headers alone are no success.
	a := reports.Attempt{Container: c.Container, Connection: c.Connection, Succeeded: c.Succeeded() && !c.Unended()}
	for _, known := range r.KnownAt(c) {
		pod := known.Pod.PodSpec()
		a.CutOff = a.CutOff || (!c.Answered() || c.Unended()) && r.EndedWithKubelet(c, timeline.KubeletOf(known.Pod))
		if len(c.Requests) == 0 && timeline.Execs(pod) {
			a.Probes, a.Predicted = nil, nil
			return a // the program may be the client, as in predict
		}
		for _, p := range c.Among(timeline.Probes(pod)) {
			h := r.handler(known.Pod, p, true)
			a.Probes = append(a.Probes, reports.Probe{
				Container: timeline.PodOf(c.Container) + "/" + p.Container, Name: p.Name, What: fmt.Sprintf("%s :%d", r.Describe(h), p.Port),
			})
			first := r.Wire(h, component(known.Kubelet))
			a.Predicted = append(a.Predicted, reports.Prediction{
				First: first, Kubelet: r.actsAs(component(known.Kubelet), h),
				Understood: h.Kind == timeline.TCPSocket || model.CanSucceed(first, c.Protocol),
				Over:       !known.Kubelet.Until.Time.After(c.Opened),
			})
			contentWithNothing := h.Kind == timeline.TCPSocket && c.First == record.FirstNothing
			a.Succeeded = a.Succeeded || contentWithNothing
		}
	}
	a.Probes = compact(a.Probes)
	slices.SortFunc(a.Predicted, func(a, b reports.Prediction) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Kubelet, b.Kubelet), cmp.Compare(strconv.FormatBool(a.Over), strconv.FormatBool(b.Over)))
	})
	a.Predicted = slices.Compact(a.Predicted)
	return a
}

// compact sorts probes, and leaves each of them once.
func compact(probes []reports.Probe) []reports.Probe {
	slices.SortFunc(probes, func(a, b reports.Probe) int {
		return cmp.Or(cmp.Compare(a.Container, b.Container), cmp.Compare(a.Name, b.Name), cmp.Compare(a.What, b.What))
	})
	return slices.Compact(probes)
}

// actsAs is what there is to know of a kubelet to say how its handler begins.
func (r *run) actsAs(kubelet model.Component, h model.Handler) string {
	if len(h.Values) == 0 {
		return string(kubelet.Version)
	}
	return r.DescribeComponent(kubelet, h.Kind)
}
