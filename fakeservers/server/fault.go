package server

import (
	"context"
	"io"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

const (
	// plaintextAnswer is what net/http sends to a client that isn't understood.
	plaintextAnswer = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	// tlsAlert is a TLS record with the fatal alert unexpected_message
	// (RFC 8446 section 6), as a TLS server sends to a client in plaintext.
	tlsAlert = "\x15\x03\x01\x00\x02\x02\x0a"
	// firstRead is how much is read of what a client sends first, so that
	// nothing is left unread, which would make a reset of a close.
	firstRead = 64 << 10
	// lingerTime is how long a connection is read after the server's last
	// word, so that the client gets to read that word before a reset that
	// unread data would cause.
	lingerTime = time.Second
)

// connectionFault returns what plays a fault that befalls a whole connection,
// and nil if the fault doesn't. In a listener with routes, what can befall a
// request waits for one.
func (s *Server) connectionFault(fault behavior.Fault, routes bool) func(*conn) {
	if fault.PerRequest() && routes {
		return nil
	}
	switch fault {
	case behavior.StallAccept:
		return s.stallAccept
	case behavior.StallHandshake:
		return s.stallHandshake
	case behavior.Reset:
		return func(c *conn) { s.afterFirst(c, c.reset) }
	case behavior.Close:
		return func(c *conn) { s.afterFirst(c, func() error { return c.end(record.ByFault, behavior.Close) }) }
	case behavior.WrongProtocol:
		return s.wrongProtocol
	}
	return nil
}

// requestFault plays a fault in place of an answer. One that befalls whole
// connections has begun while this one was open already: it leaves the request
// without an answer.
func (s *Server) requestFault(ctx context.Context, fault behavior.Fault) {
	c := connOf(ctx)
	switch fault {
	case behavior.Reset:
		_ = c.reset() // The record has what happened.
	case behavior.Close, behavior.WrongProtocol:
		_ = c.end(record.ByFault, fault)
	default:
		c.played(fault)
		s.stall(ctx)
	}
}

// stallAccept waits for the end of a connection without reading from it.
func (s *Server) stallAccept(c *conn) {
	c.played(behavior.StallAccept)
	c.waitUnread()
	_ = c.Close() // The record has why it ended.
}

// stallHandshake reads until the client gives up.
func (s *Server) stallHandshake(c *conn) {
	c.played(behavior.StallHandshake)
	_, _ = io.Copy(io.Discard, c)
	_ = c.Close()
}

// afterFirst ends a connection once the client has sent something.
func (s *Server) afterFirst(c *conn, end func() error) {
	if !readFirst(c) {
		_ = c.Close()
		return
	}
	_ = end()
}

func (s *Server) wrongProtocol(c *conn) {
	defer func() { _ = c.Close() }()
	if !readFirst(c) {
		return
	}
	c.endedBy(behavior.WrongProtocol)
	answer := plaintextAnswer
	switch p := s.config.Listener.Protocol; {
	case p == behavior.HTTP1, p == behavior.H2CAndHTTP1, p == behavior.HTTP1AndHTTPS && c.first[0] != recordHandshake:
		answer = tlsAlert
	}
	if _, err := io.WriteString(c, answer); err != nil {
		return
	}
	if err := c.CloseWrite(); err != nil {
		return
	}
	if err := c.SetReadDeadline(time.Now().Add(lingerTime)); err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, c)
}

// readFirst reads what the client sends first, and reports whether it did.
func readFirst(c *conn) bool {
	n, _ := c.Read(make([]byte, firstRead)) // The record has the error.
	return n > 0
}
