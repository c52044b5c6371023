package simnode

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// pod is what is known of a pod.
type pod struct {
	object *corev1.Pod // as its source has it now
	static bool
	gone   bool // from its source
	orphan bool // no source knows it
	status corev1.PodStatus

	// What is shown.
	shown       *corev1.Pod
	shownStatus corev1.PodStatus

	// What is done. An action needs a snapshot that has seen the last one.
	failures map[string]failure
	stop     context.CancelFunc // ends the actions that are underway; nil: there are none
	fresh    int                // the look that sees what the last actions did

	// What is reported.
	line line
	told told
}

// key is a pod's namespace and name.
func key(object *corev1.Pod) string { return cache.MetaObjectToName(object).String() }

// backoff is a wait between tries, of 1 s to begin with, doubled up to 10 s.
type backoff struct {
	delay time.Duration
	until time.Time
}

const (
	firstWait   = time.Second
	longestWait = 10 * time.Second
)

func (b *backoff) fail(now time.Time) {
	b.delay = min(max(2*b.delay, firstWait), longestWait)
	b.until = now.Add(b.delay)
}

// take takes a newer version of the pod's object.
func (p *pod) take(object *corev1.Pod) {
	before := p.object.DeletionGracePeriodSeconds
	p.object = object
	if now := object.DeletionGracePeriodSeconds; p.stop != nil && now != nil && before != nil && *now < *before {
		p.stop() // somebody has no more patience: containers are stopped anew
	}
}

// view is what a pod's status and the next actions follow from.
func (n *Node) view(p *pod) view {
	return view{
		pod: p.object, gone: p.gone, previous: p.status, failures: p.failures,
		seen: n.seen.pods[p.object.UID], runtime: n.runtime.name, host: n.cfg.Address, now: time.Now(),
	}
}

// refresh computes the pod's status anew.
func (n *Node) refresh(p *pod) {
	// A static pod has no status of its own from before a restart, but its mirror
	// pod knows since when things are as they are.
	if m := n.mirrors[key(p.object)]; p.static && p.shown == nil && mirrors(m, p.object) {
		p.status.Conditions, p.status.StartTime = m.Status.Conditions, m.Status.StartTime
	}
	p.status = status(n.view(p))
}

// act begins what is next for a pod, if nothing is underway.
func (n *Node) act(ctx context.Context, p *pod) {
	hidden := p.shown == nil && !p.static && !p.orphan // static pods need not wait for the API server
	if hidden || p.stop != nil || n.seen.number < p.fresh || n.waits(p) {
		return
	}
	actions := next(n.view(p))
	if len(actions) == 0 {
		return
	}
	var acting context.Context
	acting, p.stop = context.WithCancel(ctx)
	object, stop := p.object, p.stop
	n.work.Go(func() {
		defer stop()
		errs := make([]error, len(actions))
		var all sync.WaitGroup
		for i, a := range actions {
			all.Go(func() { errs[i] = n.runtime.perform(acting, object, a) })
		}
		all.Wait()
		n.tell(ctx, func() {
			p.learn(actions, errs)
			p.stop, p.fresh = nil, n.looks+1
			n.look(ctx)
		})
	})
}

// waits reports whether a static pod has to wait for an earlier one of its name to
// end.
func (n *Node) waits(p *pod) bool {
	if !p.static || p.gone {
		return false
	}
	for _, other := range n.pods {
		if other.static && other.gone && key(other.object) == key(p.object) {
			return true
		}
	}
	return false
}

// learn takes note of what came of actions.
func (p *pod) learn(actions []action, errs []error) {
	for i, a := range actions {
		switch {
		case !a.begins(): // what can't be stopped is tried again at the next look
		case errs[i] == nil:
			delete(p.failures, a.container)
		default:
			f := p.failures[a.container]
			f.error = errs[i]
			f.fail(time.Now())
			if p.failures == nil {
				p.failures = make(map[string]failure)
			}
			p.failures[a.container] = f
		}
	}
}

// down reports whether the runtime has nothing of the pod, and will have nothing.
func (n *Node) down(p *pod) bool {
	return p.stop == nil && n.seen.number >= p.fresh && n.seen.pods[p.object.UID].empty()
}
