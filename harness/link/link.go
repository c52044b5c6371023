// Package link is the network between two components: a TCP relay on loopback
// that forwards bytes, and that can cut, hold up, slow down or lose them. A client
// that connects to a link's address reaches its target.
package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/harness/peer"
	"github.com/skewrig/skewrig/record"
)

// Config says which link to make.
type Config struct {
	// Name is what the link is called in the record: the client, an arrow and
	// the server, "kubelet/node-a->kube-apiserver".
	Name string
	// Listen is the loopback address that the client connects to. A port of 0 is
	// any that is free.
	Listen string
	// Targets are the addresses of servers. Each connection goes to the next one of them,
	// or to one after it if that can't be reached; with HTTP, each request.
	Targets []string
	// HTTP is what it takes to look into what is passed. If unset, the link passes
	// bytes, whatever they mean.
	HTTP *HTTP
	// Crash kills the client, for a fault that is a crash. If unset, none can be.
	Crash func()
	// Recorder gets the faults. It may be unset.
	Recorder record.Recorder
}

// Link is a link that is up.
type Link struct {
	cfg      Config
	listener net.Listener
	door     *door // nil if it passes bytes
	work     sync.WaitGroup
	closed   context.Context //nolint:containedctx // the link's own lifetime
	cancel   context.CancelFunc
	failed   sync.Once // to pass on a connection

	phase  atomic.Pointer[phase] // of what is sent, or of requests
	events atomic.Pointer[phase] // of watch events

	mu       sync.Mutex
	conns    map[*conn]bool
	accepted uint64
	targets  []string
	turn     int // of the targets
}

// phase is the time from one change of the fault to the next.
type phase struct {
	fault record.LinkFault
	over  chan struct{}

	reset, held, withheld, slowed, requests, events atomic.Int64
	matching                                        atomic.Int64 // requests so far that the fault may be one of
}

func newPhase(f record.LinkFault) *phase { return &phase{fault: f, over: make(chan struct{})} }

func (p *phase) effect() record.Effect {
	return record.Effect{Reset: p.reset.Load(), Held: p.held.Load(), Withheld: p.withheld.Load(), Slowed: p.slowed.Load(), Requests: p.requests.Load(), Events: p.events.Load()}
}

// New makes a link, which passes everything.
func New(cfg Config) (*Link, error) {
	if cfg.Recorder == nil {
		cfg.Recorder = (*record.History)(nil)
	}
	if len(cfg.Targets) == 0 {
		return nil, fmt.Errorf("making the link %s: it has no targets", cfg.Name)
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("making the link %s: %w", cfg.Name, err)
	}
	l := &Link{cfg: cfg, listener: peer.Own(listener), conns: make(map[*conn]bool), targets: cfg.Targets}
	l.phase.Store(newPhase(record.LinkFault{}))
	l.events.Store(newPhase(record.LinkFault{}))
	l.closed, l.cancel = context.WithCancel(context.Background())
	if cfg.HTTP != nil {
		if l.door, err = l.open(host(listener)); err != nil {
			return nil, errors.Join(fmt.Errorf("making the link %s: %w", cfg.Name, err), listener.Close())
		}
	}
	l.work.Go(l.accept)
	return l, nil
}

func host(l net.Listener) string {
	host, _, _ := net.SplitHostPort(l.Addr().String()) // it has both
	return host
}

// Address is where the client connects to.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Set gives the link another fault, which may be none. It is in force for all
// that is sent from then on, in the connections that there are too. A fault of watch events is
// beside another one; none is the end of both.
func (l *Link) Set(f record.LinkFault) error {
	err := f.Validate()
	if f.OfRequests() && l.door == nil {
		err = errors.Join(err, errors.New("it relays bytes and does not see requests"))
	}
	if f.Crash != "" && l.cfg.Crash == nil {
		err = errors.Join(err, errors.New("its client can't be killed"))
	}
	if f.OfCalls() {
		err = errors.Join(err, errors.New("it does not see calls to a container runtime"))
	}
	if err != nil {
		return fmt.Errorf("link %s: %w", l.cfg.Name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	none := record.LinkFault{}
	if f.Stale || f == none {
		l.change(&l.events, f)
	}
	if f.Stale || l.phase.Load().fault == f {
		return nil
	}
	now := l.change(&l.phase, f)
	for c := range l.conns {
		if f.Cut == record.CutReset && f.Refuses() {
			c.strike(now, &now.reset)
			c.reset() // also one that waits for its receiver
			continue
		}
		c.interrupt()
	}
	return nil
}

// change puts a fault in the place of another one, and both into the record.
func (l *Link) change(of *atomic.Pointer[phase], f record.LinkFault) *phase {
	before, now, none := of.Load(), newPhase(f), record.LinkFault{}
	if before.fault == f {
		return before
	}
	of.Store(now)
	close(before.over)
	if before.fault != none {
		l.cfg.Recorder.Append("link", l.cfg.Name, record.FaultEnded{Fault: before.fault, Effect: before.effect()})
	}
	if f != none {
		l.cfg.Recorder.Append("link", l.cfg.Name, record.FaultBegan{Fault: f})
	}
	return now
}

// Route has connections go to other servers from now on. Those to others than these end; with
// HTTP, all do, since one has requests to several.
func (l *Link) Route(targets ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(targets) == 0 {
		return
	}
	elsewhere := !slices.Equal(l.targets, targets)
	l.targets = targets
	for c := range l.conns {
		to := c.target()
		if l.door != nil && elsewhere || l.door == nil && to != "" && !slices.Contains(targets, to) {
			c.reset()
		}
	}
}

// next are the servers in the order in which they are tried, the one first whose turn it is.
func (l *Link) next() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.turn % len(l.targets)
	l.turn++
	return slices.Concat(l.targets[first:], l.targets[:first])
}

// leadsTo reports whether a server is one of those that connections go to.
func (l *Link) leadsTo(target string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.door != nil || slices.Contains(l.targets, target)
}

// dial connects to the server whose turn it is.
func (l *Link) dial() (server net.Conn, target string, err error) {
	var targets []string
	if l.door == nil {
		targets = l.next()
	} else {
		targets = []string{l.door.address}
	}
	for _, target = range targets {
		if server, err = new(net.Dialer).DialContext(l.closed, "tcp", target); err == nil {
			break
		}
	}
	if slices.ContainsFunc(shortages, func(of error) bool { return errors.Is(err, of) }) {
		l.fail(err)
	}
	return server, target, err
}

// shortages are the errors of calls for which this process, or this machine, has not enough of something.
var shortages = []error{unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.EADDRNOTAVAIL}

// fail records, once, that the link itself could not pass on a connection.
func (l *Link) fail(err error) {
	l.failed.Do(func() { l.cfg.Recorder.Append("link", l.cfg.Name, record.LinkFailed{Error: err.Error()}) })
}

// Fault is the fault that the link has now.
func (l *Link) Fault() record.LinkFault { return l.phase.Load().fault }

// Close ends the link and its connections. What is withheld is lost.
func (l *Link) Close() error {
	l.cancel()
	err := l.listener.Close()
	l.mu.Lock()
	for c := range l.conns {
		c.reset()
	}
	l.mu.Unlock()
	if l.door != nil {
		err = errors.Join(err, l.door.server.Close())
	}
	l.work.Wait()
	return errors.Join(err, l.Set(record.LinkFault{}))
}

// acceptAgain is how long the link waits after it could not accept a connection.
const acceptAgain = 50 * time.Millisecond

func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			if l.closed.Err() != nil {
				return
			}
			l.fail(fmt.Errorf("accepting a connection: %w", err))
			select {
			case <-l.closed.Done():
				return
			case <-time.After(acceptAgain):
				continue
			}
		}
		c := &conn{link: l, client: client.(*net.TCPConn)} //nolint:forcetypeassert // it listens on TCP
		l.mu.Lock()
		l.accepted++
		c.id = l.accepted
		l.conns[c] = true
		l.mu.Unlock()
		l.work.Go(func() {
			c.run()
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.conns, c)
		})
	}
}
