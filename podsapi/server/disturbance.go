package server

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Disturbance is what is wrong with a node. The zero value is nothing.
type Disturbance struct {
	// Delay is how long each answer to a call, and each event of a watch, is held
	// back. What it then says is up to date: an event is of the latest state. What
	// is held back when the next disturbance begins is so for as long as that says.
	Delay time.Duration
	// BreakAfter is after how many events a watch ends with Unavailable, counted
	// from its beginning. If unset, it doesn't end.
	BreakAfter int
}

// disturbing is a disturbance that goes on until over is closed.
type disturbing struct {
	Disturbance
	over chan struct{}
}

func newDisturbing(d Disturbance) *disturbing { return &disturbing{d, make(chan struct{})} }

// Disturb has the server do something wrong from now on, in open watches too, or
// nothing any more if d is zero.
func (s *Server) Disturb(d Disturbance) {
	close(s.disturb.Swap(newDisturbing(d)).over)
	s.store.wake()
}

// breaks returns the end of a watch that is to be broken after what was sent.
func (d Disturbance) breaks(sent int) error {
	if d.BreakAfter <= 0 || sent < d.BreakAfter {
		return nil
	}
	return status.Errorf(codes.Unavailable, "the watch was ended on purpose after %d events", sent)
}

// delay holds an answer back. The error says that its call has ended.
func (s *Server) delay(ctx context.Context) error {
	began := time.Now()
	for {
		d := s.disturb.Load()
		if d.Delay <= 0 {
			return nil
		}
		if passed, err := d.until(ctx, began.Add(d.Delay)); passed || err != nil {
			return err
		}
	}
}

// until waits until a time, and reports whether it has come, or the disturbance is
// over.
func (d *disturbing) until(ctx context.Context, end time.Time) (passed bool, err error) {
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true, nil
	case <-d.over:
		return false, nil
	case <-ctx.Done():
		return false, status.FromContextError(ctx.Err()).Err()
	}
}
