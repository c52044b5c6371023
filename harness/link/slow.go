package link

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/skewrig/skewrig/record"
)

// chunk is what was read at once, and when it is to arrive: when it is due, or when the fault is
// over that makes it late.
type chunk struct {
	due  time.Time
	over <-chan struct{}
	data []byte
}

const (
	// chunkSize is the most that arrives at once. A slow link passes its bytes in
	// pieces of a 20th of a second.
	chunkSize, piecesPerSecond = 16 << 10, 20
	// maxUnderway is how much can be underway in a connection that is slow: 4 MB.
	maxUnderway = 256
)

// slowly passes on up to left bytes, each as late as the fault says.
func (p *pump) slowly(left int64) error {
	underway := make(chan chunk, maxUnderway)
	arrived := make(chan error, 1)
	go func() { arrived <- deliver(p.to, underway, p.conn.link.closed.Done()) }()
	err := p.send(underway, newPace(p.phase.fault, p.rand), left)
	close(underway)
	return errors.Join(err, <-arrived)
}

func (p *pump) send(underway chan<- chunk, pace *pace, left int64) error {
	size := int64(chunkSize)
	if rate := p.phase.fault.BytesPerSecond; rate > 0 {
		size = min(size, max(1, rate/piecesPerSecond))
	}
	for left > 0 {
		if ok, err := p.read(); !ok {
			return err
		}
		next := bytes.Clone(p.take(min(left, size)))
		left -= int64(len(next))
		p.phase.slowed.Add(int64(len(next)))
		underway <- chunk{due: pace.next(time.Now(), len(next)), over: p.phase.over, data: next}
	}
	return nil
}

// deliver writes chunks when they are due, or at once when their fault is over, until the link is
// closed.
func deliver(to io.Writer, underway <-chan chunk, closed <-chan struct{}) (err error) {
	for c := range underway {
		if err != nil {
			continue // the other side is closed; the reader must not block
		}
		select {
		case <-time.After(time.Until(c.due)):
		case <-c.over:
		case <-closed:
			err = os.ErrClosed
			continue
		}
		_, err = to.Write(c.data)
	}
	return err
}

// pace says when chunks arrive.
type pace struct {
	fault record.LinkFault
	rand  *rand.Rand
	last  time.Time // when the one before is there in full
}

func newPace(f record.LinkFault, r *rand.Rand) *pace { return &pace{fault: f, rand: r} }

// next returns when a chunk of n bytes that is sent now is to arrive: not before
// the one before, and so much later as its bytes take.
func (p *pace) next(now time.Time, n int) time.Time {
	due := now.Add(p.fault.Delay)
	if p.fault.Jitter > 0 {
		due = due.Add(time.Duration(p.rand.Int64N(int64(p.fault.Jitter))))
	}
	if due.Before(p.last) {
		due = p.last
	}
	if p.fault.BytesPerSecond > 0 {
		due = due.Add(time.Duration(float64(n) / float64(p.fault.BytesPerSecond) * float64(time.Second)))
	}
	p.last = due
	return due
}
