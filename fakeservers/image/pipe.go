package image

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// drainInterval is how often End looks whether everything has been read.
const drainInterval = 5 * time.Millisecond

// past is a deadline that a read has missed.
var past = time.Unix(1, 0)

// Pipe is a standard input that another program writes to. Its end can be said more
// than once, as at a terminal: a read then returns io.EOF, and the next one goes on.
type Pipe struct {
	// File is where a reader reads that has to be given a file. The end that is
	// not the last one, it sees as os.ErrDeadlineExceeded.
	File *os.File
	to   *os.File

	mu sync.Mutex
	// seen is closed when a reader has seen the end that End said last, or never will.
	seen chan struct{}
}

// NewPipe returns a pipe, which Close closes.
func NewPipe() (*Pipe, error) {
	from, to, err := os.Pipe()
	seen := make(chan struct{})
	close(seen) // no end was said
	return &Pipe{File: from, to: to, seen: seen}, err
}

var _ io.ReadWriteCloser = (*Pipe)(nil)

// Read implements io.Reader.
func (p *Pipe) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p.Resume()
		return n, io.EOF
	}
	return n, err
}

// Until is the pipe for a reader that does not outlive ctx: a read then returns io.EOF,
// and leaves what is written later to others.
func (p *Pipe) Until(ctx context.Context) io.Reader { return pipeUntil{p, ctx} }

type pipeUntil struct {
	pipe *Pipe
	ctx  context.Context
}

func (u pipeUntil) Read(b []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, io.EOF
	}
	woken := make(chan struct{})
	stop := context.AfterFunc(u.ctx, func() {
		_ = u.pipe.File.SetReadDeadline(past)
		close(woken)
	})
	n, err := u.pipe.Read(b)
	if !stop() {
		<-woken
		u.pipe.Resume()
	}
	return n, err
}

// Resume has reads of File go on after an end that is not the last one.
func (p *Pipe) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.File.SetReadDeadline(time.Time{}) // or the next read says why not
	p.endSeen()
}

// endSeen lets writers go on. p.mu is held.
func (p *Pipe) endSeen() {
	select {
	case <-p.seen:
	default:
		close(p.seen)
	}
}

// Write implements io.Writer. After an end, it waits until a reader has seen it: a
// read that has begun would return b as if it stood before the end.
func (p *Pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	seen := p.seen
	p.mu.Unlock()
	<-seen
	return p.to.Write(b)
}

// End has a reader see an end when it has read everything. It returns when everything
// has been read, or the pipe is closed.
func (p *Pipe) End() error {
	looks := time.NewTicker(drainInterval)
	defer looks.Stop()
	for {
		unread, err := p.unread()
		if err != nil {
			return err
		}
		if unread == 0 {
			return p.sayEnd()
		}
		<-looks.C
	}
}

// sayEnd has the next read of File miss its deadline.
func (p *Pipe) sayEnd() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.File.SetReadDeadline(past); err != nil {
		return err
	}
	p.endSeen()
	p.seen = make(chan struct{})
	return nil
}

// unread returns how many bytes are in the pipe.
func (p *Pipe) unread() (n int, _ error) {
	conn, err := p.File.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = conn.Control(func(fd uintptr) { n, failed = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return n, errors.Join(err, failed)
}

// CloseWrite lets readers see the end, for ever.
func (p *Pipe) CloseWrite() error { return p.to.Close() }

// Close ends reading and writing at once.
func (p *Pipe) Close() error {
	err := errors.Join(p.File.Close(), p.to.Close())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endSeen()
	return err
}
