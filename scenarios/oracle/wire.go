package oracle

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/model"
)

// wireMode holds each connection to a port that is probed against what the
// model says of the kubelet that ran at the time and of what it could know of
// the pod. A connection on which nothing was sent is one that was given up.
func wireMode(r *run) finding {
	var f finding
	for _, c := range r.connections {
		predicted := r.predict(c)
		if len(predicted) == 0 || c.First == record.FirstNothing && !slices.Contains(predicted, c.First) {
			continue
		}
		f.looked++
		if !slices.Contains(predicted, c.First) {
			f.fault("a connection to %s began with %s instead of %s", c.container, c.First, join(predicted))
		}
		if !model.CanSucceed(c.First, c.Protocol) && slices.ContainsFunc(c.Requests, good) {
			f.fault("a connection to %s began with %s and had a good answer of a server that speaks %s", c.container, c.First, c.Protocol)
		}
	}
	return f
}

// good reports whether a probe succeeds with the answer.
func good(r record.Request) bool {
	return r.Health == behavior.Serving || r.Service == nil && r.Status >= http.StatusOK && r.Status < http.StatusBadRequest
}

// predict returns how a connection to a container may begin. It returns nothing
// if no probe goes to that port, or if somebody else may be the client.
func (r *run) predict(c connection) (firsts []record.First) {
	for _, known := range r.knownAt(c) {
		if len(c.Requests) == 0 && known.pod.execs() {
			return nil // the program may be the client
		}
		for _, h := range known.pod.handlersOn(c.Port) {
			if mayBe(c, h) {
				firsts = append(firsts, model.Wire(h, known.kubelet.Component))
			}
		}
	}
	slices.Sort(firsts)
	return slices.Compact(firsts)
}

// mayBe reports whether a connection can be a handler's. By its requests it is
// known: a kubelet says in their User-Agent whether it probes or runs a hook.
func mayBe(c connection, h model.Handler) bool {
	if len(c.Requests) == 0 {
		return true
	}
	agent := "kube-probe/"
	if h.Hook {
		agent = "kube-lifecycle/"
	}
	return strings.HasPrefix(c.Requests[0].UserAgent, agent)
}

// known is a pod as a kubelet may know it.
type known struct {
	pod     podSpec
	kubelet life
}

// knownAt returns what kubelets may have known of a connection's pod when it was
// opened: for each that may have run, the state of the pod that was seen last
// before it started, and all since.
func (r *run) knownAt(c connection) (all []known) {
	states := r.statesAt(c.pod(), c.Opened)
	if len(states) == 0 {
		return nil
	}
	for _, kubelet := range r.around("kubelet/"+states[0].pod.NodeName, c.Opened) {
		for i, state := range states {
			if i+1 < len(states) && states[i+1].time.Before(kubelet.fromTime) {
				continue
			}
			all = append(all, known{state.pod, kubelet})
		}
	}
	return all
}

// statesAt returns the states of a pod since it was bound to its node, without
// those of an earlier pod of the same name.
func (r *run) statesAt(pod string, t time.Time) (states []version) {
	for _, v := range r.byName[pod] {
		switch {
		case v.time.After(t.Add(slack)) || v.pod.NodeName == "":
		case v.mirror():
			// What the kubelet runs is what was written to its file, not this.
		default:
			if n := len(states); n > 0 && states[n-1].Metadata.UID != v.Metadata.UID && v.time.Before(t) {
				states = nil
			}
			states = append(states, v)
		}
	}
	return states
}

// cutOff reports whether a connection ended without an answer at about the time
// when a kubelet of the node did. It says nothing of the server.
func (r *run) cutOff(c connection, node string) bool {
	return !c.Answered() && r.endedWithKubelet(c, node)
}

// endedWithKubelet reports whether a connection was not ended by what the server
// was asked for, and ended at about the time when a kubelet of the node did.
func (r *run) endedWithKubelet(c connection, node string) bool {
	ended := c.CloseReason == record.ClientClosed || c.CloseReason == record.ClientReset || c.CloseReason == record.Shutdown
	return ended && slices.ContainsFunc(r.lives["kubelet/"+node], func(l life) bool {
		return c.Opened.Before(l.untilTime) && l.untilTime.Before(c.Closed.Add(slack))
	})
}

func join(firsts []record.First) string { return strings.Trim(fmt.Sprint(firsts), "[]") }
