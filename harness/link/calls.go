package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skewrig/skewrig/record"
)

// Calls is the way of a kubelet's calls to its container runtime. It sees gRPC calls, and
// neither bytes nor HTTP requests. Its methods are safe for concurrent use.
type Calls struct {
	name     string
	recorder record.Recorder
	phase    atomic.Pointer[callPhase]

	mu    sync.Mutex
	conns map[*callConn]bool
}

// callPhase is the time from one change of the fault to the next.
type callPhase struct {
	fault record.LinkFault
	over  chan struct{}

	calls, reset atomic.Int64
}

func newCallPhase(f record.LinkFault) *callPhase {
	return &callPhase{fault: f, over: make(chan struct{})}
}

// NewCalls returns the way of the kubelet of a node, which has no fault.
func NewCalls(node string, recorder record.Recorder) *Calls {
	l := &Calls{name: "kubelet/" + node + "->runtime", recorder: recorder, conns: map[*callConn]bool{}}
	l.phase.Store(newCallPhase(record.LinkFault{}))
	return l
}

// Set gives the link another fault, which may be none. It is in force for calls that wait
// already, too.
func (l *Calls) Set(f record.LinkFault) error {
	if err := checkCallFault(f); err != nil {
		return fmt.Errorf("link %s: %w", l.name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.phase.Load()
	if before.fault == f {
		return nil
	}
	now := newCallPhase(f)
	l.phase.Store(now)
	close(before.over)
	if f.Cut == record.CutReset {
		for c := range l.conns {
			now.end(c)
		}
	}
	if before.fault != (record.LinkFault{}) {
		effect := record.Effect{Reset: before.reset.Load(), Requests: before.calls.Load()}
		l.recorder.Append("link", l.name, record.FaultEnded{Fault: before.fault, Effect: effect})
	}
	if f != (record.LinkFault{}) {
		l.recorder.Append("link", l.name, record.FaultBegan{Fault: f})
	}
	return nil
}

// checkCallFault returns what a fault of calls can't be.
func checkCallFault(f record.LinkFault) error {
	err := f.Validate()
	if f != (record.LinkFault{Cut: f.Cut, Delay: f.Delay, Method: f.Method, Code: f.Code, Message: f.Message}) {
		err = errors.Join(err, errors.New("it sees calls, and neither bytes nor requests: it can be cut, and calls can be late or fail"))
	}
	return err
}

// Pass returns when a call goes on to the runtime, or why it does not.
func (l *Calls) Pass(ctx context.Context, fullMethod string) error {
	var hit *callPhase
	for {
		p := l.phase.Load()
		if !p.fault.Hits(path.Base(fullMethod)) {
			return nil
		}
		if hit != p {
			p.calls.Add(1)
			hit = p
		}
		select {
		case <-p.held():
			return p.answer()
		case <-p.over:
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
}

// held ends when a call was kept for as long as the fault says, which is never on a
// link that is cut.
func (p *callPhase) held() <-chan time.Time {
	if p.fault.Cut != "" {
		return nil
	}
	return time.After(p.fault.Delay)
}

// answer is what the link answers to a call, nil if the runtime does.
func (p *callPhase) answer() error {
	if p.fault.Code == "" {
		return nil
	}
	number := slices.Index(record.Codes, p.fault.Code) + 1
	return status.Error(codes.Code(number), p.fault.Message) //nolint:gosec // there are 16 of them
}

// Unary has calls take the way (grpc.UnaryServerInterceptor).
func (l *Calls) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := l.Pass(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// Stream has streams take it (grpc.StreamServerInterceptor).
func (l *Calls) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := l.Pass(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return handler(srv, stream)
}

// Listener has connections that another one accepts take the way.
func (l *Calls) Listener(of net.Listener) net.Listener { return callListener{of, l} }

// callListener accepts the connections of a link, and ends those that are made while it is
// cut with a reset.
type callListener struct {
	net.Listener
	link *Calls
}

// Accept implements net.Listener.
func (l callListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.link.admit(accepted), nil
}

// Met is how many calls have met the fault that it has now.
func (l *Calls) Met() int64 { return l.phase.Load().calls.Load() }

func (l *Calls) admit(accepted net.Conn) net.Conn {
	c := &callConn{Conn: accepted, link: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.phase.Load(); p.fault.Cut == record.CutReset {
		p.end(c)
		return c
	}
	l.conns[c] = true
	return c
}

// end ends a connection as the death of the runtime does.
func (p *callPhase) end(c *callConn) {
	p.reset.Add(1)
	_ = c.Conn.Close() // it may have ended already
}

// callConn is a connection of a link.
type callConn struct {
	net.Conn
	link *Calls
}

// Close implements net.Conn.
func (c *callConn) Close() error {
	c.link.mu.Lock()
	delete(c.link.conns, c)
	c.link.mu.Unlock()
	return c.Conn.Close()
}
