package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/model"
)

// wireMode holds each connection to a port that is probed against what the
// model says of the kubelet that ran at the time and of what it could know of
// the pod. A connection on which nothing was sent is one that was given up.
func wireMode(r *run) finding {
	var f finding
	for _, c := range r.Connections {
		predicted := r.predict(c)
		if len(predicted) == 0 || c.First == record.FirstNothing && !slices.Contains(predicted, c.First) {
			continue
		}
		f.looked++
		if !slices.Contains(predicted, c.First) {
			f.fault("a connection to %s began with %s instead of %s", c.Container, c.First, strings.Trim(fmt.Sprint(predicted), "[]"))
		}
		if !model.CanSucceed(c.First, c.Protocol) && c.Succeeded() {
			f.fault("a connection to %s began with %s and got a good answer from a server that speaks %s", c.Container, c.First, c.Protocol)
		}
	}
	return f
}

// predict returns how a connection to a container may begin. It returns nothing
// if no probe goes to that port, or if another client is possible.
func (r *run) predict(c *timeline.Connection) (firsts []record.First) {
	for _, known := range r.KnownAt(c) {
		pod := known.Pod.PodSpec()
		if len(c.Requests) == 0 && timeline.Execs(pod) {
			return nil // the program may be the client
		}
		for _, p := range timeline.Probes(pod) {
			if c.MayBe(p) {
				firsts = append(firsts, r.Wire(r.handler(known.Pod, p, true), component(known.Kubelet)))
			}
		}
	}
	slices.Sort(firsts)
	return slices.Compact(firsts)
}
