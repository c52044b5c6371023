package server

import (
	"hash/maphash"

	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/podsapi/mask"
)

// watcher is an open watch. The store's lock protects it.
type watcher struct {
	// live is the mask of pods, gone that of pods that have gone.
	live, gone masking
	queue      *queue
	// woken has something in it whenever there may be something to do.
	woken chan struct{}
	// err, once it is set, is how the watch ends.
	err error
}

// uidOnly is what a watcher gets of a deleted pod, whatever its mask.
var uidOnly, _ = mask.Parse("metadata.uid")

func newWatcher(by masking) *watcher {
	return &watcher{
		live:  by,
		gone:  newMasking(by.mask.Union(uidOnly)),
		queue: newQueue(maxPendingDeletions),
		woken: make(chan struct{}, 1),
	}
}

// poke has the watcher look at its queue. It never waits.
func (w *watcher) poke() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

func (w *watcher) put(p *pod) error {
	state, err := p.under(w.live)
	if err != nil {
		return err
	}
	w.queue.put(p.uid, state.masked)
	return nil
}

func (w *watcher) remove(p *pod) error {
	state, err := w.gone.of(p.stub)
	if err != nil {
		return err
	}
	return w.queue.remove(p.uid, state)
}

// view is what the client was sent last.
func (w *watcher) view() view {
	given := view{by: w.live, sent: make(map[types.UID]uint64, len(w.queue.sent)), missed: w.queue.missed}
	for uid, masked := range w.queue.sent {
		given.sent[uid] = maphash.Bytes(seed, masked)
	}
	return given
}
