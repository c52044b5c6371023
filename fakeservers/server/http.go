package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http2"

	"github.com/skewrig/skewrig/fakeservers/behavior"
)

// httpPlayer serves HTTP/1.1, and HTTP/2 with prior knowledge if the port does
// both. It is net/http's server, which decides by the first bytes.
type httpPlayer struct {
	*Server
	http  *http.Server
	queue *queue
}

func newHTTPPlayer(s *Server) *httpPlayer {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(s.config.Listener.Protocol == behavior.H2CAndHTTP1)
	p := &httpPlayer{Server: s, queue: newQueue(s.listener.Addr())}
	p.http = &http.Server{
		Handler:     recorded(s.handler()),
		Protocols:   protocols,
		ErrorLog:    log.New(s.config.Log, "", log.LstdFlags),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return withConn(ctx, outermost(c)) },
		ConnState:   released,
	}
	s.running.Go(func() {
		// It ends with the queue, and nothing else can go wrong with that.
		_ = p.http.Serve(p.queue)
	})
	return p
}

// outermost returns the connection that carries c, which is it or inside it.
func outermost(c net.Conn) *conn {
	switch c := c.(type) {
	case *conn:
		return c
	case *secureConn:
		return c.outer
	case *peeked:
		return c.conn
	case *tls.Conn:
		return outermost(c.NetConn())
	}
	return nil
}

// released gives up what serve held, once net/http is done with a connection.
func released(c net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		outermost(c).release()
	}
}

func (p *httpPlayer) play(c *conn) { p.serve(c, c) }

// serve hands inner, which is c or inside it, to net/http. The connection
// isn't recorded before net/http has finished, its logging included.
func (p *httpPlayer) serve(c *conn, inner net.Conn) {
	if c.hold() && !p.queue.push(inner) {
		c.release()
	}
}

func (p *httpPlayer) close() { _ = p.queue.Close() }

// h2cPlayer serves HTTP/2 with prior knowledge and nothing else: a client that
// doesn't begin with the preface is disconnected.
type h2cPlayer struct {
	*Server
	http2 *http2.Server
	base  *http.Server
}

func newH2CPlayer(s *Server) *h2cPlayer {
	base := &http.Server{Handler: recorded(s.handler()), ErrorLog: log.New(s.config.Log, "", log.LstdFlags)}
	return &h2cPlayer{Server: s, http2: &http2.Server{}, base: base}
}

func (p *h2cPlayer) play(c *conn) {
	p.serve(c, c)
	// ServeConn has closed it, unless it never got so far.
	_ = c.Close()
}

// serve serves HTTP/2 on inner, which is c or inside it.
func (p *h2cPlayer) serve(c *conn, inner net.Conn) {
	p.http2.ServeConn(inner, &http2.ServeConnOpts{Context: withConn(p.ctx, c), BaseConfig: p.base, Handler: p.base.Handler})
}

func (p *h2cPlayer) close() {}

// httpsPlayer serves HTTP over TLS, and HTTP/1.1 without it if the port does both. After the handshake a connection goes to
// one of the plaintext players; after a failed one to net/http, which has
// an answer for a client that speaks plaintext.
type httpsPlayer struct {
	*Server
	secure *tls.Config
	http1  *httpPlayer
	http2  *h2cPlayer
}

func newHTTPSPlayer(s *Server, secure *tls.Config) *httpsPlayer {
	return &httpsPlayer{Server: s, secure: secure, http1: newHTTPPlayer(s), http2: newH2CPlayer(s)}
}

func (p *httpsPlayer) play(c *conn) {
	raw, encrypted, err := p.encrypted(c)
	switch {
	case err != nil:
		_ = c.Close() // the record has who ended it
		return
	case !encrypted:
		p.http1.serve(c, raw)
		return
	}
	inner, err := p.handshake(raw, p.secure)
	c.shook(inner.ConnectionState(), err)
	switch {
	case err != nil:
		p.http1.serve(c, inner)
	case inner.ConnectionState().NegotiatedProtocol == "h2":
		p.http2.serve(c, &secureConn{Conn: inner, outer: c})
		_ = c.Close()
	default:
		p.http1.serve(c, &secureConn{Conn: inner, outer: c})
	}
}

func (p *httpsPlayer) close() { p.http1.close() }

// handler returns what answers requests: the program, or the phases.
func (s *Server) handler() http.Handler {
	if s.config.Handler != nil {
		return s.config.Handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, r, s.phaseOf(r.URL.Path))
	})
}

// phaseOf returns the phase that answers a request for a path.
func (s *Server) phaseOf(path string) behavior.Phase {
	route := s.config.Listener.RouteOf(path)
	if route < 0 {
		return s.phase()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	phase, position := s.config.Listener.Routes[route].Phases.Answer(s.positions[route], time.Since(s.config.Started))
	s.positions[route] = position
	return phase
}

// answer answers a request as the phase has it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, phase behavior.Phase) {
	if r.RequestURI == "*" && r.Method != http.MethodOptions {
		// This is how net/http's own mux answers a request for "*", which is
		// what the HTTP/2 preface looks like to HTTP/1.1.
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if !s.wait(r.Context(), time.Duration(phase.Delay)) {
		return
	}
	if phase.Fault != "" && phase.Fault != behavior.StallAfterHeaders {
		s.requestFault(r.Context(), phase.Fault)
		return
	}
	answer := behavior.HTTP{}
	if phase.HTTP != nil {
		answer = *phase.HTTP
	}
	status := statusOf(answer)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	if answer.Location != "" {
		w.Header().Set("Location", withHost(answer.Location, r.Host))
	}
	w.WriteHeader(status)
	if phase.Fault == behavior.StallAfterHeaders {
		s.stallAfterHeaders(w, r)
		return
	}
	// A client that doesn't want the whole body is no error here.
	_, _ = io.Copy(w, body(answer, status))
}

// withHost returns a location with the host of a request where it has only a port.
func withHost(location, requested string) string {
	host, _, err := net.SplitHostPort(requested)
	if rest, bare := strings.CutPrefix(location, "https://:"); bare && err == nil {
		return "https://" + net.JoinHostPort(host, rest)
	}
	return location
}

func (s *Server) stallAfterHeaders(w http.ResponseWriter, r *http.Request) {
	connOf(r.Context()).played(behavior.StallAfterHeaders)
	if err := http.NewResponseController(w).Flush(); err == nil || errors.Is(err, http.ErrNotSupported) {
		s.stall(r.Context())
	}
}

func statusOf(answer behavior.HTTP) int {
	switch {
	case answer.Status != 0:
		return answer.Status
	case answer.Location != "":
		return http.StatusFound
	default:
		return http.StatusOK
	}
}

func body(answer behavior.HTTP, status int) io.Reader {
	switch {
	case answer.BodyBytes > 0:
		return io.LimitReader(filler{}, answer.BodyBytes)
	case answer.Body == "" && status == http.StatusOK:
		return strings.NewReader("ok")
	default:
		return strings.NewReader(answer.Body)
	}
}

// filler is an endless body.
type filler struct{}

func (filler) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
