package cluster

import (
	"context"
	"time"

	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/record"
)

// startsAgain reports whether a component is started again if it ends by itself, as a kubelet
// does with the containers of a static pod. One of several controller managers or schedulers
// has to be: it ends when it is no longer the leader, or finds no API server while it starts. So
// has each that has crashed.
func (comp *component) startsAgain() bool {
	if comp.crashed.Load() {
		return true
	}
	return program.HasRole(string(comp.kind), program.Controller) && record.Member(comp.name) != ""
}

// A kubelet starts a container that ended at once, and then later each time
// (k8s.io/kubernetes, pkg/kubelet/kubelet.go, MaxContainerBackOff and the backoff beside it).
const firstBackOff, maxBackOff = 10 * time.Second, 5 * time.Minute

// crash kills a component, if it runs, as if it had done so by itself.
func (c *Cluster) crash(name string) {
	_, comp, err := c.find(name)
	if err != nil {
		return // its link is there before it is
	}
	if p := comp.process(); p != nil {
		comp.crashed.Store(true)
		_ = p.Kill() // what it ended with is in the record
	}
}

// startAgain starts a component that has ended, and retries until it has started or the context
// ends: then takeOver has ended the retries, and its caller starts the component or leaves it stopped.
func (c *Cluster) startAgain(ctx context.Context, comp *component) {
	for {
		select {
		case <-time.After(comp.nextBackOff()):
		case <-ctx.Done():
			return
		}
		comp.mu.Lock()
		err := c.startLocked(ctx, comp, Change{})
		up := comp.running != nil // one that may end by itself has no error
		comp.mu.Unlock()
		if err == nil && up {
			return
		}
	}
}

// takeOver locks the component's mu, and ends what would start it again.
func (comp *component) takeOver() {
	leave := func() {
		if leave := comp.leave.Load(); leave != nil {
			(*leave)()
		}
	}
	leave() // who starts it has the mu
	comp.mu.Lock()
	leave() // who came in between
}

// nextBackOff is how long to wait before the component is started again: each time longer.
func (comp *component) nextBackOff() time.Duration {
	comp.mu.Lock()
	defer comp.mu.Unlock()
	wait := comp.backOff
	comp.backOff = min(max(2*wait, firstBackOff), maxBackOff)
	return wait
}
