package world

import (
	"time"

	"github.com/skewrig/skewrig/scenarios/model/nodelife"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
)

// controller is the node-lifecycle controller while it runs.
type controller struct {
	started time.Duration
	latest  time.Duration // when it last looked
	due     time.Duration // when it looks next; never if it doesn't run
	// What it remembers of the nodes, and until when it need not look at them: see
	// look.
	memory []nodelife.Memory
	quiet  []time.Duration
}

// renewDeadline is for how long the controller manager goes on without reaching
// the API server, where its leader election is. Then it ends, and starts again
// without any memory (k8s.io/component-base/config/v1alpha1/defaults.go). Here,
// that is as soon as the API server is there.
const renewDeadline = 10 * time.Second

// passTakes is how long a look at all nodes takes. The controller counts the period
// from its end, so that a grace of eight periods is over at the eighth look, and not
// just before it (node_lifecycle_controller.go, Run).
const passTakes = 5 * time.Millisecond

// runController starts or ends the controller, as its Deployment says.
func (w *World) runController() {
	d := w.deployment(watchdog.ControllerManager)
	runs := d == nil || d.Ready > 0
	if runs == (w.controller.due != never) {
		return
	}
	w.controller = controller{due: never}
	if runs {
		w.controller = controller{
			started: w.now, latest: w.now, due: w.now,
			memory: make([]nodelife.Memory, len(w.nodes)), quiet: make([]time.Duration, len(w.nodes)),
		}
		for i := range w.nodes {
			w.controller.wake(i)
		}
	}
	w.emit(ControllerRuns{runs})
}

// pass looks at all nodes. While the API server is down it can neither
// read nor write.
func (w *World) pass() {
	c := &w.controller
	c.due = w.now + w.cfg.Controller.Period
	if !w.isUp() {
		return
	}
	for i := range w.nodes {
		if c.quiet[i] <= w.now && !w.putOff(i) {
			w.look(i)
		}
	}
	c.latest = w.now
}

// look is one look at a node.
//
// A node that is well is left out until a look can come to something: that is
// until its grace period would be over, or its status is reported. What the looks
// in between would have remembered is made good by remember.
func (w *World) look(i int) {
	w.catchUp(i)
	c, n := &w.controller, &w.nodes[i]
	c.wake(i)
	if n.condition.Circumstances&watchdog.NoNode != 0 {
		c.memory[i] = nodelife.Memory{}
		return
	}
	m, verdict := w.cfg.Controller.Look(c.memory[i], n.api, w.Now())
	c.memory[i] = m
	switch {
	case verdict == nodelife.CallUnknown:
		w.callUnknown(i)
	case n.steady && !w.eager && m.Lease().Version == n.api.Lease.Version:
		c.quiet[i] = min(m.Until(w.cfg.Controller).Sub(w.cfg.Start), n.reports)
	}
}

// putOff puts off the look at a node that was left out and has renewed its lease
// in time, if it has not reported its status.
func (w *World) putOff(i int) bool {
	c, n := &w.controller, &w.nodes[i]
	if c.quiet[i] <= c.latest {
		return false
	}
	w.play(i, c.latest)
	c.quiet[i] = min(w.seen(n.renewed)+w.cfg.Controller.Grace, n.reports)
	return c.quiet[i] > w.now
}

// seen is when the controller sees what happened at a time.
func (w *World) seen(at time.Duration) time.Duration {
	period := w.cfg.Controller.Period
	looks := (at - w.controller.started + period - 1) / period
	return w.controller.started + looks*period
}

// remember makes good the looks that were left out, up to the latest one, given
// that the node has done by now what it did until then. As its clock has been
// running and its status has not been reported, only one of them matters: the
// first after its latest renewal.
func (w *World) remember(i int) {
	c, n := &w.controller, &w.nodes[i]
	if c.quiet == nil || c.quiet[i] <= c.latest || n.renewed > c.latest {
		return
	}
	c.memory[i], _ = w.cfg.Controller.Look(c.memory[i], n.api, w.After(w.seen(n.renewed)))
}

// wake has a node looked at each time, until it is well.
func (c *controller) wake(i int) {
	if c.quiet != nil {
		c.quiet[i] = -1
	}
}

// callUnknown makes a node Unknown. It looks at its status again soon, and finds
// that this isn't so.
func (w *World) callUnknown(i int) {
	n := &w.nodes[i]
	n.api.Ready = nodelife.Unknown
	if !n.condition.Stopped {
		n.reports = w.now + (n.reports-w.now)%w.cfg.Timing.Status
	}
	w.emit(NodeChanged{i, nodelife.Unknown})
	w.dispute(i)
}
