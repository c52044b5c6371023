package schedule

import (
	"context"
	"sync"
)

// Barrier is where cells meet that change a control plane in step. A change is made when each of them has arrived, or has
// left.
type Barrier struct {
	mu      sync.Mutex
	members int
	arrived int
	meeting *meeting
}

// meeting is one change.
type meeting struct {
	all  chan struct{} // has one value for one of the members, when all have arrived
	full bool
	done chan struct{} // is closed when that one has acted
	err  error
}

// NewBarrier returns a barrier for so many members.
func NewBarrier(members int) *Barrier { return &Barrier{members: members, meeting: newMeeting()} }

func newMeeting() *meeting {
	return &meeting{all: make(chan struct{}, 1), done: make(chan struct{})}
}

// Meet waits until all members have arrived. Then one of them acts, and each gets its error.
func (b *Barrier) Meet(ctx context.Context, act func() error) error {
	b.mu.Lock()
	meeting := b.meeting
	b.arrived++
	b.check()
	b.mu.Unlock()
	select {
	case <-meeting.all:
		meeting.err = act()
		b.mu.Lock()
		b.arrived, b.meeting = 0, newMeeting()
		b.mu.Unlock()
		close(meeting.done)
	case <-meeting.done:
	case <-ctx.Done():
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.meeting == meeting {
			b.arrived--
		}
		return context.Cause(ctx)
	}
	return meeting.err
}

// Leave takes one of the members out: the others no longer wait for it.
func (b *Barrier) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.members--
	b.check()
}

// check lets one of the members act if all have arrived.
func (b *Barrier) check() {
	if b.arrived > 0 && b.arrived == b.members && !b.meeting.full {
		b.meeting.full = true
		b.meeting.all <- struct{}{}
	}
}
