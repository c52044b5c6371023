package server

import (
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/http2"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

// conn is an accepted connection that takes down what passes over it. It is
// recorded once it has been closed and no request on it is still being
// answered.
type conn struct {
	net.Conn
	id     int
	opened time.Time
	// ended is called once, with what is to be recorded.
	ended func(*conn, record.Connection)
	// changed is called with what would be recorded now, until ended is called. It
	// may be unset.
	changed func(record.Connection)
	drafts  sync.Mutex // is held while changed is called, and guards over
	over    bool

	mu sync.Mutex
	// users counts the socket, while it is open, and what is being done with
	// it: a handshake, a fault, requests that are being answered.
	users int
	// reading counts the calls of Read that have not returned.
	reading int
	closed  time.Time
	reason  record.CloseReason
	fault   behavior.Fault
	// first is the beginning of what the client sent.
	first     []byte
	in, out   int64
	handshake *record.Handshake
	// preface is set if the HTTP/2 preface was seen inside TLS.
	preface  bool
	requests []*record.Request
	dropped  int
}

// Read reads what the client sent, and takes it down.
func (c *conn) Read(p []byte) (int, error) {
	if !c.startReading() {
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Read(p)
	if c.read(p[:n], err) {
		c.draft()
	}
	return n, err
}

// read takes down what was read, and reports whether it is of the beginning.
func (c *conn) read(data []byte, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.first)
	c.reading--
	c.in += int64(len(data))
	c.first = appendFirst(c.first, data)
	c.noteEnd(err)
	return len(c.first) > before
}

// startReading reports whether the connection is still open for reading.
func (c *conn) startReading() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed.IsZero() {
		return false
	}
	c.reading++
	return true
}

// Write sends to the client.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out += int64(n)
	c.noteEnd(err)
	return n, err
}

// noteEnd notes that the client ended the connection, if err says so. c.mu is
// held.
func (c *conn) noteEnd(err error) {
	switch {
	case err == nil || c.reason != "":
	case errors.Is(err, io.EOF):
		c.reason = record.ClientClosed
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		c.reason = record.ClientReset
	}
}

// CloseWrite ends the server's side of the connection and leaves the client's.
// net/http looks for it.
func (c *conn) CloseWrite() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close closes the connection, on the part of the protocol's own server.
func (c *conn) Close() error { return c.end(record.ServerClosed, "") }

// end closes the connection. The reason counts if there is none yet.
func (c *conn) end(reason record.CloseReason, fault behavior.Fault) error {
	c.mu.Lock()
	if fault != "" && c.fault == "" {
		c.fault = fault
	}
	if !c.closed.IsZero() {
		c.mu.Unlock()
		return nil
	}
	if c.reason == "" {
		c.reason = reason
	}
	c.closed = time.Now()
	if c.reading == 0 {
		c.takeUnread()
	}
	c.mu.Unlock()

	err := c.Conn.Close()
	c.release()
	return err
}

// reset closes the connection so that the client gets a RST instead of a FIN.
func (c *conn) reset() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		if err := tcp.SetLinger(0); err != nil {
			return errors.Join(err, c.end(record.ByFault, behavior.Reset))
		}
	}
	return c.end(record.ByFault, behavior.Reset)
}

// played notes a fault that doesn't end the connection by itself.
func (c *conn) played(fault behavior.Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = fault
}

// endedBy notes a fault that makes the connection end, whoever closes it.
func (c *conn) endedBy(fault behavior.Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = fault
	if c.reason == "" {
		c.reason = record.ByFault
	}
}

// isOpen reports whether the connection has not been closed by the server.
func (c *conn) isOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed.IsZero()
}

// shook notes the outcome of a TLS handshake.
func (c *conn) shook(state tls.ConnectionState, err error) {
	outcome := &record.Handshake{ALPN: cut(state.NegotiatedProtocol)}
	if state.Version != 0 {
		outcome.Version = versionName(state.Version)
	}
	if len(state.PeerCertificates) > 0 {
		outcome.ClientCertificate = cut(state.PeerCertificates[0].Subject.String())
	}
	if err != nil {
		outcome.Error = cut(err.Error())
	}
	c.mu.Lock()
	c.handshake = outcome
	c.mu.Unlock()
	c.draft()
}

// begin adds a request. It returns nil if the connection has been recorded
// already: the request arrived, but its turn never came.
func (c *conn) begin(r record.Request) *record.Request {
	if !c.hold() {
		return nil
	}
	c.mu.Lock()
	r.Started = time.Now()
	if len(c.requests) < maxRequests {
		c.requests = append(c.requests, &r)
	} else {
		c.dropped++
	}
	c.mu.Unlock()
	c.draft()
	return &r
}

// done ends a request that was added by begin, once fill has noted the answer.
func (c *conn) done(r *record.Request, fill func(*record.Request)) {
	c.mu.Lock()
	fill(r)
	r.Duration = behavior.Duration(time.Since(r.Started))
	c.mu.Unlock()
	c.draft()
	c.release()
}

// hold keeps the connection from being recorded until release is called. It
// reports whether it isn't too late.
func (c *conn) hold() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users == 0 {
		return false
	}
	c.users++
	return true
}

// release gives up a share of the connection. The last one records it.
func (c *conn) release() {
	c.mu.Lock()
	c.users--
	last := c.users == 0
	c.mu.Unlock()
	if last {
		c.drafts.Lock()
		c.over = true
		c.drafts.Unlock()
		c.ended(c, c.summary())
	}
}

// draft says what would be recorded now.
func (c *conn) draft() {
	if c.changed == nil {
		return
	}
	c.drafts.Lock()
	defer c.drafts.Unlock()
	if !c.over {
		c.changed(c.summary())
	}
}

// summary returns what is to be recorded.
func (c *conn) summary() record.Connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	summary := record.Connection{
		ID:              c.id,
		Local:           c.LocalAddr().String(),
		Remote:          c.RemoteAddr().String(),
		Opened:          c.opened,
		Closed:          c.closed,
		First:           Classify(c.first),
		FirstHex:        hex.EncodeToString(c.first[:min(len(c.first), maxFirstHex)]),
		ClientHello:     parseClientHello(c.first),
		Handshake:       c.handshake,
		DroppedRequests: c.dropped,
		BytesIn:         c.in,
		BytesOut:        c.out,
		Fault:           c.fault,
		CloseReason:     c.reason,
	}
	summary.HTTP2Preface = c.preface || summary.First == record.FirstHTTP2
	for _, r := range c.requests {
		summary.Requests = append(summary.Requests, *r)
	}
	return summary
}

// secureConn is the inside of a connection with TLS. It looks at what the
// client says there, as conn does outside.
type secureConn struct {
	*tls.Conn
	outer *conn
	// start holds as much of what was read first as the HTTP/2 preface is
	// long. Only one goroutine reads from a connection at a time.
	start []byte
}

// Read reads what the client sent inside TLS.
func (s *secureConn) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if missing := len(http2.ClientPreface) - len(s.start); n > 0 && missing > 0 {
		s.start = append(s.start, p[:min(n, missing)]...)
		if string(s.start) == http2.ClientPreface {
			s.outer.sawPreface()
		}
	}
	if errors.Is(err, io.EOF) {
		s.outer.clientLeft()
	}
	return n, err
}

func (c *conn) sawPreface() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.preface = true
}

// clientLeft notes that the client closed its side inside TLS (close_notify),
// which is before it closes the connection underneath.
func (c *conn) clientLeft() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteEnd(io.EOF)
}
