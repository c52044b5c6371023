package world

import (
	"math/rand/v2"
	"time"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/scenarios/model/heartbeat"
	"github.com/skewrig/skewrig/scenarios/model/nodelife"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
)

// Condition is what is wrong with a node. The zero Condition is nothing.
type Condition struct {
	// Stopped nodes do nothing.
	Stopped bool
	// Dropped is true if what the node sends gets lost, so that it waits for an
	// answer until its timeout; Refused, if it learns at once that no server is there.
	Dropped, Refused bool
	// Clock is the node's own clock.
	Clock clock.Clock
	// Circumstances are those for the watchdog. A node that is not there (NoNode) is
	// none for the controller, either.
	Circumstances watchdog.Circumstances
}

// node is a node. What it does by itself is computed when it is read: that makes
// no difference, and most renewals are never read.
type node struct {
	condition Condition
	api       nodelife.Node // as the API server shows it
	round     heartbeat.Round
	renews    time.Duration // when its next request about the lease is due
	reports   time.Duration // when it looks at its status next and has something to say
	source    rand.PCG
	renewed   time.Duration // when it last renewed its lease, really
	steady    bool          // it has renewed its lease by its present clock, which runs
}

func newNode(cfg Config, i int) node {
	n := node{source: *rand.NewPCG(cfg.Seed, uint64(i))} //nolint:gosec // jitter is no secret
	within := func(d time.Duration) time.Duration { return time.Duration(n.random() * float64(d)) }
	n.renews, n.reports = within(cfg.Timing.Interval), within(cfg.Timing.Report)
	n.renewed, n.steady = n.renews-cfg.Timing.Interval, true
	n.condition.Clock = cfg.Clock
	created := cfg.Start.Add(n.renewed)
	renewed := cfg.Clock.Read(created)
	n.api = nodelife.Node{
		Created: created, Ready: nodelife.True, Heartbeat: cfg.Clock.Read(cfg.Start.Add(n.reports - cfg.Timing.Report)),
		Lease: nodelife.Lease{Version: 1, Renewed: renewed},
	}
	return n
}

func (n *node) random() float64 { return rand.New(&n.source).Float64() } //nolint:gosec // as above

// Set gives some nodes another condition from now on. A request that is underway
// keeps waiting for its answer.
func (w *World) Set(nodes []int, c Condition) {
	for _, i := range nodes {
		w.catchUp(i)
		n := &w.nodes[i]
		starts := n.condition.Stopped && !c.Stopped
		n.condition, n.steady = c, false
		w.controller.wake(i)
		if starts {
			n.round, n.renews, n.reports = heartbeat.First(), w.now, w.now
			w.dispute(i)
		}
	}
}

// Node is a node as the API server shows it.
func (w *World) Node(i int) nodelife.Node {
	w.catchUp(i)
	return w.nodes[i].api
}

// Age is how long ago a node last renewed its lease, really.
func (w *World) Age(i int) time.Duration {
	w.catchUp(i)
	return w.now - w.nodes[i].renewed
}

// Condition is what is wrong with a node.
func (w *World) Condition(i int) Condition { return w.nodes[i].condition }

// catchUp plays what a node has done until now, and what the controller has seen
// of it.
func (w *World) catchUp(i int) {
	w.play(i, w.controller.latest)
	w.remember(i)
	w.play(i, w.now)
}

// play plays what a node has done until a time.
func (w *World) play(i int, until time.Duration) {
	n := &w.nodes[i]
	if n.condition.Stopped {
		return
	}
	answer := w.answers(n.condition)
	renewed := n.renewed
	for n.renews <= until {
		w.renew(n, answer)
	}
	if n.renewed != renewed {
		c := n.condition.Clock
		n.api.Lease.Renewed, n.steady = c.Read(w.After(n.renewed)), !c.Frozen && c.Drift > -1e6
	}
	for n.reports <= until {
		w.report(i, answer)
	}
}

// answers is what comes of any request of a node.
func (w *World) answers(c Condition) heartbeat.Answer {
	switch {
	case c.Dropped:
		return heartbeat.Lost
	case c.Refused || !w.isUp():
		return heartbeat.Refused
	default:
		return heartbeat.Done
	}
}

func (w *World) renew(n *node, answer heartbeat.Answer) {
	round, after, renewed := n.round.Next(answer, w.cfg.Timing, n.random())
	if renewed {
		n.renewed = n.renews
		n.api.Lease.Version++
	}
	n.round, n.renews = round, n.renews+after
}

func (w *World) report(i int, answer heartbeat.Answer) {
	n := &w.nodes[i]
	if answer != heartbeat.Done {
		n.reports += w.cfg.Timing.Status
		return
	}
	n.api.Heartbeat = n.condition.Clock.Read(w.After(n.reports))
	n.reports += w.cfg.Timing.Report
	w.controller.wake(i)
	if n.api.Ready != nodelife.True {
		n.api.Ready = nodelife.True
		w.emit(NodeChanged{i, nodelife.True})
	}
}
