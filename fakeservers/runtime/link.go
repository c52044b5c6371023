package runtime

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

// SetFault gives the link of the node's kubelet to the runtime another fault, which
// may be none. It is in force for calls that wait already, too. Containers go on
// whatever it is, and so do the sessions of kubectl exec, attach and port-forward.
func (r *Runtime) SetFault(f record.LinkFault) error { return r.link.set(f) }

// link is the way of a kubelet's calls to the runtime.
type link struct {
	name     string
	recorder record.Recorder
	phase    atomic.Pointer[phase]

	mu    sync.Mutex
	conns map[*conn]bool
}

// phase is the time from one change of the fault to the next.
type phase struct {
	fault record.LinkFault
	over  chan struct{}

	calls, reset atomic.Int64
}

func newPhase(f record.LinkFault) *phase { return &phase{fault: f, over: make(chan struct{})} }

func newLink(node string, recorder record.Recorder) *link {
	l := &link{name: "kubelet/" + node + "->runtime", recorder: recorder, conns: map[*conn]bool{}}
	l.phase.Store(newPhase(record.LinkFault{}))
	return l
}

func (l *link) set(f record.LinkFault) error {
	if err := checkFault(f); err != nil {
		return fmt.Errorf("link %s: %w", l.name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.phase.Load()
	if before.fault == f {
		return nil
	}
	now := newPhase(f)
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

// checkFault returns what a fault of calls can't be.
func checkFault(f record.LinkFault) error {
	err := f.Validate()
	if f != (record.LinkFault{Cut: f.Cut, Delay: f.Delay, Method: f.Method, Code: f.Code, Message: f.Message}) {
		err = errors.Join(err, errors.New("it sees calls, and neither bytes nor requests: it can be cut, and calls can be late or fail"))
	}
	return err
}

// pass returns when a call goes on to the runtime, or why it does not.
func (l *link) pass(ctx context.Context, fullMethod string) error {
	var hit *phase
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
func (p *phase) held() <-chan time.Time {
	if p.fault.Cut != "" {
		return nil
	}
	return time.After(p.fault.Delay)
}

// answer is what the link answers to a call, nil if the runtime does.
func (p *phase) answer() error {
	if p.fault.Code == "" {
		return nil
	}
	number := slices.Index(record.Codes, p.fault.Code) + 1
	return status.Error(codes.Code(number), p.fault.Message) //nolint:gosec // there are 16 of them
}

func (l *link) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := l.pass(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func (l *link) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := l.pass(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return handler(srv, stream)
}

// listener accepts the connections of a link, and ends those that are made while it is
// cut with a reset.
type listener struct {
	net.Listener
	link *link
}

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.link.admit(accepted), nil
}

func (l *link) admit(accepted net.Conn) net.Conn {
	c := &conn{Conn: accepted, link: l}
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
func (p *phase) end(c *conn) {
	p.reset.Add(1)
	_ = c.Conn.Close() // it may have ended already
}

// conn is a connection of a link.
type conn struct {
	net.Conn
	link *link
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.link.mu.Lock()
	delete(c.link.conns, c)
	c.link.mu.Unlock()
	return c.Conn.Close()
}
