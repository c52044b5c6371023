package world

import (
	"math/rand/v2"
	"time"

	"github.com/skewrig/skewrig/scenarios/model/watchdog"
)

// watching is the watchdog, and what lies between it and the API servers.
type watching struct {
	behavior watchdog.Behavior
	cluster  *watchdog.Cluster // nil if it was deleted
	link     watchdog.Link
	rand     *rand.Rand
	runs     bool
	prober   *watchdog.Prober // nil if there is none
	of       *watchdog.Cluster
	life     time.Duration // of leases, in the prober's eyes
}

func (w *World) proberDue() time.Duration {
	if w.watchdog.prober == nil {
		return never
	}
	return w.watchdog.prober.Due().Sub(w.cfg.Start)
}

// StartWatchdog starts the watchdog, which finds the cluster as it is.
func (w *World) StartWatchdog() {
	w.watchdog.runs = true
	w.reconcile()
}

// StopWatchdog ends the watchdog, whatever it is doing.
func (w *World) StopWatchdog() {
	w.watchdog.runs = false
	w.endProber(watchdog.Stop, "the watchdog ends")
}

// SetCluster is news of the cluster, which is nil when it is deleted.
func (w *World) SetCluster(c *watchdog.Cluster) {
	w.watchdog.cluster = c
	w.reconcile()
}

// SetLink is what is wrong between the watchdog and the API servers from now on.
func (w *World) SetLink(l watchdog.Link) { w.watchdog.link = l }

// reconcile starts or ends the prober, as the cluster says.
func (w *World) reconcile() {
	g := &w.watchdog
	if !g.runs {
		return
	}
	action, why := g.behavior.Lifecycle(g.cluster, g.of)
	switch action {
	case watchdog.Stop:
		w.endProber(action, why)
	case watchdog.Start, watchdog.Restart:
		cfg := w.cfg.Watchdog.For(*g.cluster)
		prober := watchdog.NewProber(g.behavior, cfg, w.Now())
		g.prober, g.of, g.life = &prober, g.cluster, cfg.Life()
		w.emit(ProberChanged{action, why})
	}
}

func (w *World) endProber(action watchdog.Action, why string) {
	if w.watchdog.prober == nil {
		return
	}
	w.watchdog.prober, w.watchdog.of = nil, nil
	w.emit(ProberChanged{action, why})
}

// watch lets the prober do what is due.
func (w *World) watch() {
	prober, did := w.watchdog.prober.Step(watchdog.Seen{
		Answer:   w.answer,
		Leases:   w.leases,
		Resource: w.Deployment,
		Random:   w.watchdog.rand.Float64,
	})
	w.watchdog.prober = &prober
	if did.Probe != nil {
		w.emit(Probed{*did.Probe})
	}
	if did.BacksOff {
		w.emit(BackedOff{w.Now().Add(watchdog.BackOff)})
	}
	for _, applied := range did.Changes {
		w.emit(Changed{applied})
		d := w.deployment(applied.Dependent)
		w.put(d, applied.Change.To(d.Resource))
	}
	if did.Err != nil {
		w.emit(ScalingFailed{did.Err})
	}
}

// answer is what comes of a call of the watchdog's.
func (w *World) answer(c watchdog.Call) watchdog.Answer {
	if a := w.watchdog.link[c]; a != watchdog.Answered {
		return a
	}
	if !w.isUp() && c.ToShoot() {
		return watchdog.Failed
	}
	return watchdog.Answered
}

// leases are the leases of all nodes. One that can't have run out yet, as its
// clock has been running, is left as it was when it was last read; up to then
// the controller need not have looked, either.
func (w *World) leases(yield func(watchdog.Lease) bool) {
	oldest := w.Now().Add(-w.watchdog.life)
	stale := func(n *node) bool { return !n.steady || w.eager || !n.api.Lease.Renewed.After(oldest) }
	for i := range w.nodes {
		n := &w.nodes[i]
		if stale(n) {
			w.play(i, w.controller.latest)
		}
		if stale(n) {
			w.catchUp(i)
		}
		if !yield(watchdog.Lease{Renewed: n.api.Lease.Renewed, Node: n.condition.Circumstances}) {
			return
		}
	}
}
