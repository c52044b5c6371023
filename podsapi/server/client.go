package server

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Client is what a client did on one connection, and what it missed.
type Client struct {
	// ID numbers the connections from 1, in their order.
	ID int `json:"id"`
	// PID is the process that connected, and UID its user.
	PID int `json:"pid"`
	UID int `json:"uid"`
	// Connected is when it did, and Disconnected when that ended. If unset, it is
	// connected.
	Connected    time.Time `json:"connected"`
	Disconnected time.Time `json:"disconnected,omitzero"`
	// Calls are those that have ended, by method and code.
	Calls []Calls `json:"calls"`
	// Watching is how many watches are open.
	Watching int `json:"watching"`
	// Events is how many events were sent, whether or not the client read them.
	Events int64 `json:"events"`
	// Missed is how many states of pods were never sent in the client's watches,
	// because it read too slowly and later ones took their place.
	Missed int64 `json:"missed"`
	// LargestList is how many bytes the largest list had that it was sent. A gRPC
	// client takes 4 MiB unless configured otherwise, and the server can't know that
	// it dropped a larger one.
	LargestList int `json:"largestList,omitempty"`
	// Behind are the pods whose latest state, as far as its masks show it, the
	// client was given neither by its last list nor by its last watch, or whose
	// deletion was not sent. A client that did neither has none. One that is gone is
	// as far behind as it was when it went.
	Behind []types.UID `json:"behind,omitempty"`
}

// maxGone is of how many clients that are gone the server still knows what they
// did.
const maxGone = 1000

// Clients returns what each client did so far, in the order of their
// connections. Of those that are gone, the last 1000 are there.
func (s *Server) Clients() []Client {
	now := s.store.now()
	var reports []Client
	for _, c := range s.clients.all() {
		reports = append(reports, c.report(now))
	}
	return reports
}

// Answering reports whether a call that has begun is missing in what Clients returns. Watches
// don't count: they may stay open for good.
func (s *Server) Answering() bool { return s.clients.answering.Load() > 0 }

// clients are all clients, and what they did together.
type clients struct {
	store *store
	mu    sync.Mutex
	last  int
	known []*client
	calls outcomes
	// answering is how many calls, but for watches, have begun and not been counted yet: a
	// client may have its answer before that.
	answering atomic.Int64
}

func newClients(s *store) *clients { return &clients{store: s, calls: outcomes{}} }

func (c *clients) all() []*client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.known)
}

// count counts a call.
func (c *clients) count(end outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[end]++
}

// counted returns what was counted.
func (c *clients) counted() outcomes {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

// connected adds a client, and forgets the oldest of too many that are gone.
func (c *clients) connected(who credential) *client {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	added := newClient(c.last, who, c.store)
	gone := 0
	for _, known := range slices.Backward(c.known) {
		if known.isGone() {
			gone++
		}
	}
	c.known = append(slices.DeleteFunc(c.known, func(known *client) bool {
		if gone <= maxGone || !known.isGone() {
			return false
		}
		gone--
		return true
	}), added)
	return added
}

// client is a connection.
type client struct {
	store  *store
	mu     sync.Mutex
	so     Client // without what is in the fields below
	calls  outcomes
	open   map[*watcher]struct{}
	lists  []view // the last one, if any
	ended  []view // the watch that ended last, if any
	missed int64  // in watches that have ended
}

func newClient(id int, who credential, s *store) *client {
	return &client{
		store: s,
		so:    Client{ID: id, PID: who.pid, UID: who.uid, Connected: time.Now()},
		calls: outcomes{},
		open:  map[*watcher]struct{}{},
	}
}

// disconnected notes that the client has gone, and what was not sent to it by then.
func (c *client) disconnected() {
	now := c.store.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.so.Disconnected.IsZero() {
		c.so.Disconnected = time.Now()
		c.so.Behind = c.behind(c.looks(), now)
	}
}

func (c *client) isGone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.so.Disconnected.IsZero()
}

// called notes that a call ended.
func (c *client) called(end outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[end]++
}

// listed notes what a list gave, and its size.
func (c *client) listed(given view, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists = []view{given}
	c.so.LargestList = max(c.so.LargestList, bytes)
}

// watches notes that a watch is open.
func (c *client) watches(w *watcher) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[w] = struct{}{}
}

// left notes that a watch has ended, and what it gave.
func (c *client) left(w *watcher, given view) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, w)
	c.ended = []view{given}
	c.missed += given.missed
}

// wasSent notes an event.
func (c *client) wasSent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.so.Events++
}

// looks returns what the open watches gave.
func (c *client) looks() (given []view) {
	for w := range c.open {
		given = append(given, c.store.look(w))
	}
	return given
}

// behind returns the pods that the client is behind on, given what its open watches
// gave and the pods that there are.
func (c *client) behind(open []view, now []*pod) []types.UID {
	return behindInAll(slices.Concat(c.lists, c.ended, open), now)
}

// report returns what the client did, given the pods that there are now.
func (c *client) report(now []*pod) Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	report, open := c.so, c.looks()
	report.Calls, report.Watching, report.Missed = c.calls.calls(), len(c.open), c.missed
	for _, given := range open {
		report.Missed += given.missed
	}
	if report.Disconnected.IsZero() {
		report.Behind = c.behind(open, now)
	}
	return report
}
