package server

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/skewrig/skewrig/harness/peer"
	"github.com/skewrig/skewrig/record"
)

// acceptPause is how long the server waits when it can't accept a connection:
// the process has run out of file descriptors, say.
const acceptPause = 20 * time.Millisecond

// accept takes connections until the server is closed. That it can't is recorded, once: who probes waits for it, as for a
// container that is slow.
func (s *Server) accept() {
	failed := false
	for {
		raw, err := s.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed), errors.Is(err, syscall.EINVAL): // of a socket that is shut down before it is closed
			return
		case err != nil:
			if !failed {
				s.record(record.ListenFailed{Port: s.config.Listener.Port, Error: "accepting a connection: " + err.Error()})
			}
			failed = true
			s.wait(context.Background(), acceptPause)
			continue
		}
		if uid, foreign := peer.Foreign(raw); foreign && !s.config.OwnNetwork {
			_ = raw.Close() // nothing was written there
			s.refused(uid)
			continue
		}
		if c := s.admit(raw); c != nil {
			s.running.Go(func() { s.handle(c) })
		}
	}
}

// refused records that connections of another user of this machine are closed, once for each user.
func (s *Server) refused(uid uint32) {
	s.mu.Lock()
	again := s.foreign[uid]
	s.foreign[uid] = true
	s.mu.Unlock()
	if !again {
		s.record(record.ForeignRefused{Port: s.config.Listener.Port, UID: uid})
	}
}

// admit takes a connection on. If the server is closing, the connection is
// closed and recorded at once, and nil is returned.
func (s *Server) admit(raw net.Conn) *conn {
	s.mu.Lock()
	s.lastID++
	c := &conn{Conn: raw, id: s.lastID, opened: time.Now(), users: 1, ended: s.ended}
	if to, is := s.config.Recorder.(record.Drafter); is {
		c.changed = func(summary record.Connection) { to.Draft(s.whole(summary)) }
	}
	s.running.Add(1)
	s.conns[c] = struct{}{}
	closing := s.closing
	s.mu.Unlock()
	if closing {
		// An error in closing it changes nothing: it is not in use any more.
		_ = c.end(record.Shutdown, "")
		return nil
	}
	c.draft()
	return c
}

// handle plays the fault that is on, or leaves the connection to its protocol.
func (s *Server) handle(c *conn) {
	if !c.hold() {
		return
	}
	defer c.release()
	if play := s.connectionFault(s.phase().Fault, len(s.config.Listener.Routes) > 0); play != nil {
		play(c)
		return
	}
	s.player.play(c)
}

// ended records a connection.
func (s *Server) ended(c *conn, summary record.Connection) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.record(s.whole(summary))
	s.running.Done()
}

// whole adds to a summary what a connection doesn't know.
func (s *Server) whole(summary record.Connection) record.Connection {
	summary.Port, summary.Protocol = s.config.Listener.Port, s.config.Listener.Protocol
	return summary
}

// shut turns connections away from now on, and returns those that are not
// recorded yet.
func (s *Server) shut() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	return slices.Collect(maps.Keys(s.conns))
}

// queue is a listener whose connections were accepted elsewhere. It hands them
// to servers that insist on a listener.
type queue struct {
	addr  net.Addr
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newQueue(addr net.Addr) *queue {
	return &queue{addr: addr, conns: make(chan net.Conn), done: make(chan struct{})}
}

// push hands over a connection, and reports whether it was accepted. One that
// can't be accepted any more is closed.
func (q *queue) push(c net.Conn) bool {
	select {
	case q.conns <- c:
		return true
	case <-q.done:
		// The server is closing: the connection underneath is closed already.
		_ = c.Close()
		return false
	}
}

func (q *queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.done:
		return nil, net.ErrClosed
	}
}

func (q *queue) Close() error {
	q.once.Do(func() { close(q.done) })
	return nil
}

func (q *queue) Addr() net.Addr { return q.addr }
