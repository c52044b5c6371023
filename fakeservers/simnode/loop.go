package simnode

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// lookEvery is the time between two looks at what the runtime does.
const lookEvery = 200 * time.Millisecond

// state is what the node knows. Only the goroutine of run uses it.
type state struct {
	pods map[types.UID]*pod

	// What the sources say. Mirror pods are known by namespace and name.
	manifests []*corev1.Pod
	mirrors   map[string]*corev1.Pod
	lines     map[string]*line // to delete mirror pods that nobody has
	uid       types.UID        // of the Node object, when it is known
	heard     map[source]bool  // which sources have said what there is
	seen      *snapshot        // what the runtime said last
	looks     int              // how many were begun
	looking   bool             // one is underway
	again     bool             // and what it sees may be out of date
	ready     bool             // all pods are shown
}

// source is where pods come from.
type source string

const (
	files     source = "files"
	apiServer source = "API server"
)

// snapshot is how the pods were at some time after a look was begun.
type snapshot struct {
	pods   map[types.UID]observed
	number int  // of the look
	whole  bool // it was begun when all sources had been heard
}

func newState() state {
	return state{
		pods: make(map[types.UID]*pod), mirrors: make(map[string]*corev1.Pod),
		lines: make(map[string]*line), heard: make(map[source]bool),
	}
}

// run does all that is done with the state. It never waits for the runtime or the
// API server: others do, and tell it of what came of it.
func (n *Node) run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	n.look(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-n.events:
			event()
		case <-tick.C:
			if !n.looking {
				n.look(ctx)
			}
		}
		if n.seen != nil {
			n.settle(ctx)
		}
	}
}

// tell has run take note of what happened.
func (n *Node) tell(ctx context.Context, event func()) {
	select {
	case n.events <- event:
	case <-ctx.Done():
	}
}

// look begins to look at what the runtime does, or has it looked at again after
// the look that is underway.
func (n *Node) look(ctx context.Context) {
	if n.again = n.looking; n.looking {
		return
	}
	n.looking = true
	n.looks++
	number, whole := n.looks, n.whole()
	n.work.Go(func() {
		pods, err := n.runtime.observe(ctx)
		n.tell(ctx, func() {
			n.looking = false
			if err == nil {
				n.seen = &snapshot{pods, number, whole}
			}
			if n.again {
				n.look(ctx)
			}
		})
	})
}

// whole reports whether all pods are known.
func (n *Node) whole() bool {
	return n.heard[files] && (n.client == nil || n.heard[apiServer])
}

// settle does what follows from what is known. What is shown comes before what is
// done and what is reported.
func (n *Node) settle(ctx context.Context) {
	n.gather()
	pods := slices.SortedFunc(maps.Values(n.pods), func(a, b *pod) int {
		return cmp.Compare(key(a.object)+string(a.object.UID), key(b.object)+string(b.object.UID))
	})
	for _, p := range pods {
		n.refresh(p)
	}
	n.show(pods)
	for _, p := range pods {
		n.act(ctx, p)
		n.report(ctx, p)
	}
	n.drop(pods)
	n.dropMirrors(ctx)
}

// gather makes pods of the manifests, and of what the runtime has of pods that
// nobody knows: they were deleted while the node was not there.
func (n *Node) gather() {
	wanted := make(map[types.UID]bool)
	for _, manifest := range n.manifests {
		wanted[manifest.UID] = true
		if n.pods[manifest.UID] == nil {
			n.pods[manifest.UID] = &pod{object: manifest, static: true}
		}
	}
	for uid, p := range n.pods {
		// One that is back before it has ended is first taken down, as it would be
		// had it stayed away for longer.
		p.gone = p.gone || p.static && !wanted[uid]
	}
	if !n.seen.whole {
		return
	}
	for uid, left := range n.seen.pods {
		if n.pods[uid] == nil {
			n.pods[uid] = &pod{object: left.orphan(uid), gone: true, orphan: true}
		}
	}
}

// show shows what is new. The first time, it is shown all at once.
func (n *Node) show(pods []*pod) {
	if !n.ready && !n.seen.whole {
		return
	}
	var changed []*corev1.Pod
	for _, p := range pods {
		if p.orphan || p.shown == p.object && equality.Semantic.DeepEqual(p.shownStatus, p.status) {
			continue
		}
		p.shown, p.shownStatus = p.object, p.status
		object := p.object.DeepCopy()
		p.status.DeepCopyInto(&object.Status)
		changed = append(changed, object)
	}
	if len(changed) > 0 {
		n.cfg.Pods.Set(changed...)
	}
	if !n.ready {
		n.ready = true
		n.cfg.Pods.SetReady(true)
	}
}

// drop forgets the pods of which neither source nor runtime has anything left.
func (n *Node) drop(pods []*pod) {
	for _, p := range pods {
		uid := p.object.UID
		if !p.gone || !n.down(p) {
			continue
		}
		delete(n.pods, uid)
		if p.shown != nil {
			n.cfg.Pods.Remove(uid)
		}
	}
}
