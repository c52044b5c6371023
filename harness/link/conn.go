package link

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skewrig/skewrig/record"
)

// conn is a connection through a link: the client's, and the one to the server.
type conn struct {
	link   *Link
	id     uint64
	client *net.TCPConn

	mu     sync.Mutex
	server *net.TCPConn // nil until there is one
	to     string       // its address
	struck *phase       // the last one whose fault hit this connection
}

// strike counts the connection, once for each fault.
func (c *conn) strike(p *phase, connections *atomic.Int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.struck != p {
		connections.Add(1)
	}
	c.struck = p
}

// longAgo is a deadline that wakes whoever reads.
var longAgo = time.Unix(1, 0)

// interrupt has the pumps look at the link's fault again.
func (c *conn) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.client.SetReadDeadline(longAgo)
	if c.server != nil {
		_ = c.server.SetReadDeadline(longAgo)
	}
}

// reset ends both sides with a reset.
func (c *conn) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, side := range []*net.TCPConn{c.client, c.server} {
		if side != nil {
			_ = side.SetLinger(0)
			_ = side.Close()
		}
	}
}

func (c *conn) run() {
	forward := newPump(c, record.Forward, c.client)
	if !c.connect(forward) {
		c.reset()
		return
	}
	forward.to = c.server
	backward := newPump(c, record.Backward, c.server)
	backward.to = c.client
	var both sync.WaitGroup
	both.Go(forward.run)
	both.Go(backward.run)
	both.Wait()
	_ = c.client.Close()
	_ = c.server.Close()
}

// connect dials the server as soon as the link lets a first packet through. It
// is false if that was never, or if the server isn't there.
func (c *conn) connect(forward *pump) bool {
	for {
		forward.phase = forward.now()
		if !forward.phase.fault.Refuses() {
			break
		}
		if forward.phase.fault.Cut == record.CutReset {
			c.strike(forward.phase, &forward.phase.reset)
			return false
		}
		c.strike(forward.phase, &forward.phase.held)
		if forward.withhold(); forward.ended {
			return false
		}
	}
	server, to, err := c.link.dial()
	if err != nil {
		return false
	}
	c.mu.Lock()
	c.server, c.to = server.(*net.TCPConn), to //nolint:forcetypeassert // it dialed TCP
	c.mu.Unlock()
	return c.link.leadsTo(to) // it may lead elsewhere since
}

// target is the address of the server, empty until there is one.
func (c *conn) target() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.to
}

// pump passes on one direction of a connection.
type pump struct {
	conn      *conn
	direction record.Direction
	from, to  *net.TCPConn
	buffer    []byte
	pending   []byte // was read, and has not been passed on
	ended     bool   // the sender has said all
	phase     *phase
	passed    int64 // since the beginning of the phase
	rand      *rand.Rand
}

const (
	// atOnce is how much is read at once.
	atOnce = 128 << 10
	// maxHeld is how much a sender gets rid of while nothing arrives: what the
	// buffers on the way take.
	maxHeld = 64 << 10
)

func newPump(c *conn, d record.Direction, from *net.TCPConn) *pump {
	stream := 2 * c.id
	if d == record.Backward {
		stream++
	}
	return &pump{
		conn: c, direction: d, from: from, buffer: make([]byte, atOnce),
		rand: rand.New(rand.NewPCG(0, stream)), //nolint:gosec // jitter is no secret
	}
}

func (p *pump) run() {
	for {
		if p.phase != p.now() {
			p.phase, p.passed = p.now(), 0
		}
		if p.ended && len(p.pending) == 0 && p.left() > 0 {
			_ = p.to.CloseWrite()
			return
		}
		if err := p.pass(); err != nil {
			p.conn.reset()
			return
		}
		if p.conn.link.closed.Err() != nil {
			return
		}
	}
}

// left is how much may pass until the link is cut.
func (p *pump) left() int64 {
	if f := p.phase.fault; f.Cut != "" && f.In(p.direction) {
		return f.AfterBytes - p.passed
	}
	return math.MaxInt64
}

func (p *pump) now() *phase { return p.conn.link.phase.Load() }

var errCut = errors.New("the link is cut")

// pass passes on what is sent, until that ends or the fault is another one.
func (p *pump) pass() error {
	f, left := p.phase.fault, p.left()
	switch {
	case left > 0 && f.Slows() && f.In(p.direction):
		return p.slowly(left)
	case left > 0:
		return p.quickly(left)
	case f.Cut == record.CutReset:
		p.conn.strike(p.phase, &p.phase.reset)
		return errCut
	default:
		p.withhold()
		return nil
	}
}

// read reads something if nothing is pending. It is false if there is nothing
// to pass on in this phase.
func (p *pump) read() (bool, error) {
	if len(p.pending) == 0 && !p.ended {
		n, err := p.from.Read(p.buffer)
		p.pending = p.buffer[:n]
		switch {
		case errors.Is(err, io.EOF):
			p.ended = true
		case errors.Is(err, os.ErrDeadlineExceeded):
			_ = p.from.SetReadDeadline(time.Time{})
		case err != nil:
			return false, err
		}
	}
	return len(p.pending) > 0 && p.phase == p.now(), nil
}

// take takes up to n bytes of what is pending.
func (p *pump) take(n int64) []byte {
	n = min(n, int64(len(p.pending)))
	taken := p.pending[:n]
	p.pending = p.pending[n:]
	p.passed += n
	return taken
}

// quickly passes on up to left bytes.
func (p *pump) quickly(left int64) error {
	for left > 0 {
		if ok, err := p.read(); !ok {
			return err
		}
		next := p.take(left)
		left -= int64(len(next))
		if _, err := p.to.Write(next); err != nil {
			return err
		}
	}
	return nil
}

// withhold takes what is sent and passes on nothing, until the phase is over. That
// there is nothing more to come is withheld too.
func (p *pump) withhold() {
	held := bytes.Clone(p.pending)
	p.withheld(held)
	for !p.ended && len(held) < maxHeld && p.phase == p.now() {
		p.pending = nil
		if _, err := p.read(); err != nil {
			p.ended = true // the other side hears of it when the link is healed
		}
		held = append(held, p.pending...)
		p.withheld(p.pending)
	}
	p.pending = held
	if p.ended && p.to == nil {
		return // who gives up before there is a connection never had one
	}
	select {
	case <-p.phase.over:
	case <-p.conn.link.closed.Done():
		p.pending, p.ended = nil, true
	}
}

// withheld counts what is withheld.
func (p *pump) withheld(data []byte) {
	if len(data) > 0 || p.ended {
		p.conn.strike(p.phase, &p.phase.held)
	}
	p.phase.withheld.Add(int64(len(data)))
}
