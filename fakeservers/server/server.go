// Package server plays a behavior on a port of a loopback address, over real
// sockets, and records what it sees on the wire: every connection with its
// first bytes, TLS ClientHello, handshake, requests and end. What it doesn't
// play on purpose it leaves to the servers that real workloads use, net/http
// and grpc-go, so that a client of the wrong protocol meets what it would meet
// in a cluster.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

// Config says what to serve, and where.
type Config struct {
	// Listener is the port and what happens there. Port 0 lets the kernel
	// choose one.
	Listener behavior.Listener
	// IP is the address to listen on: a loopback address, unless the network is the
	// server's own.
	IP netip.Addr
	// OwnNetwork has the server listen on every address that there is.
	OwnNetwork bool
	// Container is the path of the container, "namespace/pod/container": the
	// subject under which the server records.
	Container string
	// Started is when the process of the container began, from which phases
	// count. If unset, now.
	Started time.Time
	// Recorder takes what the server sees. If unset, nothing is recorded.
	Recorder record.Recorder
	// Handler, if set, answers HTTP requests instead of the phases.
	Handler http.Handler
	// Health, if set, answers gRPC health checks instead of the phases: with
	// the status of the service, or with an error made by
	// google.golang.org/grpc/status.
	Health func(service string) (behavior.ServingStatus, error)
	// Certificate, if set, is presented instead of one of the kind that the
	// listener names.
	Certificate *tls.Certificate
	// Log takes what the protocol's own server logs, such as failed
	// handshakes. If unset, it is discarded.
	Log io.Writer
}

// Server is a port that is being served. Its methods are safe for concurrent
// use.
type Server struct {
	config   Config
	listener net.Listener
	filler   net.Conn // the one that fills the queue of the listener
	player   player

	// ctx ends what is being waited for, once Close has closed the
	// connections: before, it would still be answered.
	ctx    context.Context
	cancel context.CancelFunc
	// running counts goroutines, and connections that are not recorded yet.
	running sync.WaitGroup

	mu        sync.Mutex
	positions []behavior.Position // of the routes, in their order
	conns     map[*conn]struct{}
	foreign   map[uint32]bool // users whose connections were refused
	lastID    int
	closing   bool
}

// player serves connections as a protocol has it.
type player interface {
	// play serves a connection. It may return while the connection is still
	// being served.
	play(*conn)
	// close ends what play has left running. All connections are closed
	// before it is called.
	close()
}

// phase returns the phase of connections, before any path is known.
func (s *Server) phase() behavior.Phase {
	return s.config.Listener.Phases.At(time.Since(s.config.Started))
}

// Start opens the port and serves it until Close is called. The port is open
// when Start returns. The error for a port that can't be opened says what to
// do about it; that for a listener that isn't valid holds every problem, each
// a behavior.Problem.
func Start(config Config) (*Server, error) {
	if err := validate(config.Listener); err != nil {
		return nil, err
	}
	if config.Started.IsZero() {
		config.Started = time.Now()
	}
	if config.Recorder == nil {
		config.Recorder = (*record.History)(nil)
	}
	if config.Log == nil {
		config.Log = io.Discard
	}
	s := &Server{config: config, conns: map[*conn]struct{}{}, foreign: map[uint32]bool{}, positions: make([]behavior.Position, len(config.Listener.Routes))}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		s.cancel()
		s.record(record.ListenFailed{Port: config.Listener.Port, Error: err.Error()})
		return nil, err
	}
	return s, nil
}

// open opens the port and begins to serve it.
func (s *Server) open() error {
	secure, err := tlsConfig(s.config)
	if err != nil {
		return err
	}
	s.listener, err = Listen(s.ctx, netip.AddrPortFrom(s.config.IP, uint16(s.config.Listener.Port)), s.config.OwnNetwork)
	if err != nil {
		return err
	}
	full := s.phase().Fault == behavior.StallConnect
	if full {
		if s.filler, err = fill(s.ctx, s.listener); err != nil {
			return errors.Join(err, s.listener.Close())
		}
	}
	s.config.Listener.Port = int32(s.Addr().Port())
	s.player = newPlayer(s, secure)
	s.record(s.announcement())
	if !full {
		s.running.Go(s.accept)
	}
	return nil
}

func validate(listener behavior.Listener) error {
	if listener.Port == 0 {
		listener.Port = 1 // Any valid one: the kernel chooses.
	}
	var problems []error
	for _, problem := range listener.Validate() {
		problems = append(problems, problem)
	}
	return errors.Join(problems...)
}

func newPlayer(s *Server, secure *tls.Config) player {
	switch p := s.config.Listener.Protocol; {
	case p == behavior.H2C:
		return newH2CPlayer(s)
	case p.HTTP() && p.TLS():
		return newHTTPSPlayer(s, secure)
	case p.HTTP():
		return newHTTPPlayer(s)
	case p.GRPC():
		return newGRPCPlayer(s, secure)
	default:
		return tcpPlayer{s}
	}
}

// Addr returns the address and port: Config.IP, also if it is not the only one.
func (s *Server) Addr() netip.AddrPort {
	addr, _ := s.listener.Addr().(*net.TCPAddr)
	return netip.AddrPortFrom(s.config.IP, addr.AddrPort().Port())
}

// Close closes the port and every connection, as the end of a process would.
// When it returns, every connection is recorded and no goroutine is left. It
// may be called more than once.
func (s *Server) Close() error {
	open := s.shut()
	err := s.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if s.filler != nil {
		_ = s.filler.Close() // It carried nothing, and the port is closed already.
	}
	for _, c := range open {
		err = errors.Join(err, c.end(record.Shutdown, ""))
	}
	s.cancel()
	s.player.close()
	s.running.Wait()
	return err
}

func (s *Server) announcement() record.Listening {
	listening := record.Listening{
		Address:  s.Addr().String(),
		Port:     s.config.Listener.Port,
		Protocol: s.config.Listener.Protocol,
	}
	switch {
	case !s.config.Listener.Protocol.TLS():
	case s.config.Certificate != nil:
		listening.Certificate = "file"
	default:
		listening.Certificate = string(certificateKind(s.config.Listener))
	}
	return listening
}

func (s *Server) record(payload record.Payload) {
	s.config.Recorder.Append("server/"+s.config.Container, s.config.Container, payload)
}

// wait waits, and reports whether nothing came in between.
func (s *Server) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil && s.ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
	return false
}

// stall waits until the client or the server has had enough.
func (s *Server) stall(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
}
