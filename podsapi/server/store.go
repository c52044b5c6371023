package server

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

// errInitializing is the answer of a node that doesn't know its pods yet.
var errInitializing = status.Error(codes.FailedPrecondition,
	"the node is initializing and doesn't know all of its pods yet: try again later")

// store is the pods of a node, and who watches them. Nothing that waits is done
// while it is locked, so no client can block another, or the node.
type store struct {
	mu    sync.Mutex
	ready bool
	// pods are in the order of their UIDs. The slice is replaced, never changed:
	// a list of them needs no copy.
	pods     []*pod
	watchers map[*watcher]struct{}
	// closed, once it is set, is the answer to everything.
	closed error
}

func newStore() *store { return &store{watchers: map[*watcher]struct{}{}} }

// available returns why there is nothing to be had, if so.
func (s *store) available() error {
	if s.closed != nil {
		return s.closed
	}
	if !s.ready {
		return errInitializing
	}
	return nil
}

// list returns all pods, in the order of their UIDs.
func (s *store) list() ([]*pod, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pods, s.available()
}

// now returns the pods that there are, also before the node is ready.
func (s *store) now() []*pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pods
}

// get returns a pod, or nil if there is none with the UID.
func (s *store) get(uid types.UID) (*pod, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.available(); err != nil {
		return nil, err
	}
	if i, found := find(s.pods, uid); found {
		return s.pods[i], nil
	}
	return nil, nil
}

func find(in []*pod, uid types.UID) (int, bool) {
	return slices.BinarySearchFunc(in, uid, func(p *pod, uid types.UID) int {
		return strings.Compare(string(p.uid), string(uid))
	})
}

// set adds pods, or replaces what they were. A state that is the one there was
// changes nothing.
func (s *store) set(states []*pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := slices.Clone(s.pods)
	for _, p := range states {
		i, found := find(next, p.uid)
		if found && bytes.Equal(next[i].wire, p.wire) {
			continue
		}
		if !found {
			next = slices.Insert(next, i, nil)
		}
		next[i] = p
		s.enqueue(func(w *watcher) error { return w.put(p) })
	}
	s.pods = next
}

// remove takes pods away. UIDs of none are no error.
func (s *store) remove(uids []types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := slices.Clone(s.pods)
	for _, uid := range uids {
		i, found := find(next, uid)
		if !found {
			continue
		}
		p := next[i]
		next = slices.Delete(next, i, i+1)
		s.enqueue(func(w *watcher) error { return w.remove(p) })
	}
	s.pods = next
}

// enqueue puts a change into the queues of all watchers.
func (s *store) enqueue(change func(*watcher) error) {
	for w := range s.watchers {
		if err := change(w); err != nil {
			s.end(w, err)
		}
		w.poke()
	}
}

// end ends a watch with an error.
func (s *store) end(w *watcher, err error) {
	w.err = err
	delete(s.watchers, w)
	w.poke()
}

// setReady says whether the node knows all of its pods. If not,
// the open watches end, so that none misses a change unknowingly.
func (s *store) setReady(ready bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = ready
	if !ready {
		s.endAll(errInitializing)
	}
}

// close ends all watches and answers everything from now on with an error.
func (s *store) close(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = err
	s.endAll(err)
}

func (s *store) endAll(err error) {
	for w := range s.watchers {
		s.end(w, err)
	}
}

// wake has all watchers look again at what they are to do.
func (s *store) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watchers {
		w.poke()
	}
}

// watch begins a watch: all pods are due, then the event that says that these
// were all.
func (s *store) watch(by masking) (*watcher, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.available(); err != nil {
		return nil, err
	}
	w := newWatcher(by)
	for _, p := range s.pods {
		if err := w.put(p); err != nil {
			return nil, err
		}
	}
	w.queue.sync()
	s.watchers[w] = struct{}{}
	return w, nil
}

// next takes the next event of a watcher: nil if there is none now. The
// error is the end of the watch.
func (s *store) next(w *watcher) (*pods.WatchPodsEvent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.err != nil {
		return nil, w.err
	}
	return w.queue.next(), nil
}

// leave ends a watch whose client has gone, and returns what it was sent.
func (s *store) leave(w *watcher) view {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, w)
	return w.view()
}

// look returns what a watcher was sent so far.
func (s *store) look(w *watcher) view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return w.view()
}
