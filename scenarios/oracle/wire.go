package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/model"
)

// wireMode holds each connection to a port that is probed against what the
// model says of the kubelet that ran at the time and of what it could know of
// the pod.
func wireMode(r *run) finding {
	var f finding
	for _, c := range r.Connections {
		predicted := r.predict(c)
		if len(predicted) == 0 || r.leftEmpty(c, predicted) {
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

// together is how long after the end of a connection a server may accept another one
// that a client opened beside it.
const together = 200 * time.Millisecond

// leftEmpty reports whether a client may have sent nothing on a connection, and
// ended it: because the server does not speak the probe's protocol, or ended the
// connection itself, because the kubelet ended or a probe failed about then (while etcd is
// away, only the handshake beside it shows that), or because the probe speaks HTTP/2 and
// another one dialed the same port at about the same time. Go's HTTP transport dials for
// both of these, and may then need only one of the connections.
func (r *run) leftEmpty(c *timeline.Connection, predicted []record.First) bool {
	if c.First != record.FirstNothing || slices.Contains(predicted, c.First) {
		return false
	}
	foreign := slices.ContainsFunc(predicted, func(f record.First) bool { return !model.CanSucceed(f, c.Protocol) })
	kubeletEnded := slices.ContainsFunc(r.Around(timeline.KubeletOf(r.StatesAt(c)[0]), c.Opened), func(l *timeline.Life) bool {
		return l.Until.Time.Before(c.Closed.Add(timeline.Slack))
	})
	probeFailed := slices.ContainsFunc(r.Happenings, func(h timeline.Happening) bool {
		return h.Reason == "Unhealthy" && h.About.Namespace+"/"+h.About.Name == timeline.PodOf(c.Container) &&
			h.Time.Sub(c.Closed).Abs() < timeline.Slack
	})
	failedBeside := r.beside(c, func(other *timeline.Connection) bool {
		return other.First == record.FirstTLS && other.Handshake != nil && other.Handshake.Error != ""
	})
	if foreign || !c.GivenUp() || c.Fault != "" || kubeletEnded || probeFailed || failedBeside {
		return true
	}
	return slices.Contains(predicted, record.FirstHTTP2) && r.beside(c, func(other *timeline.Connection) bool { return other.First == record.FirstHTTP2 })
}

// beside reports whether there was a connection to the same port about then of which something
// is true.
func (r *run) beside(c *timeline.Connection, is func(*timeline.Connection) bool) bool {
	return slices.ContainsFunc(r.Connections, func(other *timeline.Connection) bool {
		return other.Container == c.Container && other.Port == c.Port &&
			other.Opened.Before(c.Closed.Add(together)) && other.Closed.After(c.Opened.Add(-together)) && is(other)
	})
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
