// Package world plays a cluster in virtual time: nodes that renew their leases
// by clocks of their own, the node-lifecycle controller, and a watchdog that
// races it. It joins the models of the three and adds only what lies between
// them: which requests get through, and that the controller runs in one of the
// Deployments which the watchdog scales.
//
// A world does nothing by itself. Its time passes in RunUntil, and everything
// that is done to it is done at the time that it shows. The same calls on the
// same configuration give the same events, in the same order. Requests take no
// time unless they are lost, and caches are never behind.
package world

import (
	"cmp"
	"math"
	"math/rand/v2"
	"time"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/scenarios/model/heartbeat"
	"github.com/skewrig/skewrig/scenarios/model/nodelife"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
)

// Config is a world at its beginning. All nodes are there, Ready, and at any
// moment of the time between two renewals.
type Config struct {
	// Start is the time at which the world begins. If unset, 1 January 2000.
	Start time.Time
	// Seed determines everything that is random. If unset, it is 0.
	Seed uint64
	// Nodes is how many nodes there are.
	Nodes int
	// Clock is that of all nodes to begin with. If unset, it is right.
	Clock clock.Clock
	// Timing is that of all nodes.
	Timing heartbeat.Timing
	// Controller is the node-lifecycle controller. It runs while the Deployment
	// kube-controller-manager has replicas that are ready, or if there is none.
	Controller nodelife.Config
	// Deployments are what the watchdog may scale. If unset, they are those that
	// the watchdog's configuration names, with one replica each.
	Deployments []Deployment
	// Release is how the watchdog behaves (see watchdog.BehaviorOf), and Watchdog its
	// configuration. If Release is unset, there is no watchdog.
	Release  string
	Watchdog watchdog.Config
	// Cluster is what the watchdog knows of the cluster. If unset, it is one that
	// has been made and has a worker.
	Cluster *watchdog.Cluster
	// On is called with each event, at the time at which it happens, and leaves the
	// world as it is. It may be unset.
	On func(time.Time, Event)
}

// World is a cluster in virtual time. Inside, time is counted from its beginning.
type World struct {
	cfg         Config
	now         time.Duration
	nodes       []node
	disputes    disputes
	down        time.Duration // since when the API server is down; never if it is up
	controller  controller
	deployments []Deployment
	watchdog    watching
	eager       bool // for tests: everything is played at once
}

// never is when what doesn't happen is due.
const never = time.Duration(math.MaxInt64)

// New is a world that begins.
func New(cfg Config) *World {
	if cfg.Start.IsZero() {
		cfg.Start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	cfg.Timing = cfg.Timing.WithDefaults()
	cfg.Controller = cfg.Controller.WithDefaults()
	cfg.Controller.Period += passTakes
	cfg.Watchdog = cfg.Watchdog.WithDefaults()
	if cfg.Deployments == nil {
		cfg.Deployments = deployments(cfg.Watchdog.Dependents)
	}
	cfg.Cluster = cmp.Or(cfg.Cluster, Made())
	w := &World{cfg: cfg, down: never}
	for i := range cfg.Nodes {
		w.nodes = append(w.nodes, newNode(cfg, i))
	}
	for _, d := range cfg.Deployments {
		d.Ready, d.settles = d.Replicas, never
		w.deployments = append(w.deployments, d)
	}
	w.watchdog = watching{
		behavior: watchdog.BehaviorOf(cfg.Release),
		cluster:  cfg.Cluster,
		rand:     rand.New(rand.NewPCG(cfg.Seed, watchdogStream)), //nolint:gosec // jitter is no secret
	}
	w.controller.due = never
	w.runController()
	if cfg.Release != "" {
		w.StartWatchdog()
	}
	return w
}

// watchdogStream is the stream of random numbers that is the watchdog's. Nodes
// have those from 0.
const watchdogStream = 1 << 63

// Made is a cluster that has been made and has a worker.
func Made() *watchdog.Cluster {
	return &watchdog.Cluster{
		LastOperation: watchdog.LastOperation{Type: "Reconcile", State: "Succeeded"},
		Workers:       []watchdog.Worker{{Name: "worker"}},
	}
}

// Now is the world's time.
func (w *World) Now() time.Time { return w.After(w.now) }

// After is the time when the world has gone on for so long since it began.
func (w *World) After(d time.Duration) time.Time { return w.cfg.Start.Add(d) }

// RunUntil lets time pass, and everything happen that is due until then.
func (w *World) RunUntil(t time.Time) {
	until := t.Sub(w.cfg.Start)
	for {
		due, do := w.next()
		if due > until {
			break
		}
		w.now = due
		do()
	}
	w.now = max(w.now, until)
}

// next is what happens next. What is due at the same time happens in the order
// in which it stands here, so that the watchdog and the controller find what
// nodes and Deployments have just done.
func (w *World) next() (due time.Duration, do func()) {
	due = never
	consider := func(at time.Duration, what func()) {
		if at < due {
			due, do = at, what
		}
	}
	consider(w.disputes.due(), w.settle)
	for i := range w.deployments {
		consider(w.deployments[i].settles, func() { w.follow(&w.deployments[i]) })
	}
	consider(w.controller.due, w.pass)
	consider(w.proberDue(), w.watch)
	return due, do
}

// SetAPIServer takes the API server down, or brings it up again.
func (w *World) SetAPIServer(up bool) {
	if up == w.isUp() {
		return
	}
	for i := range w.nodes {
		w.catchUp(i)
		w.controller.wake(i)
	}
	if !up {
		w.down = w.now
		return
	}
	long := w.now-w.down >= renewDeadline
	w.down = never
	if long {
		w.controller = controller{due: never}
		w.runController()
	}
}

func (w *World) isUp() bool { return w.down == never }

func (w *World) emit(e Event) {
	if w.cfg.On != nil {
		w.cfg.On(w.Now(), e)
	}
}
