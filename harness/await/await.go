// Package await waits for what comes true on its own, where no signal says so.
package await

import (
	"context"
	"time"
)

// poll is how often a condition is looked at.
const poll = 2 * time.Millisecond

// Until looks at a condition until it is true, and reports whether it became so
// before the limit was over or the context was done. A limit is for what is sure to
// come: it only runs out where something is wrong. On a machine that is busy, it is longer: a wait between two looks
// counts as short as it was to be, and not as late as it ended.
func Until(ctx context.Context, limit time.Duration, is func() bool) bool {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	return until(ctx, limit, tick.C, is)
}

func until(ctx context.Context, limit time.Duration, tick <-chan time.Time, is func() bool) bool {
	for left := limit; ; left -= poll {
		began := time.Now()
		if is() {
			return true
		}
		if left -= time.Since(began); left <= 0 {
			return false
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return false
		}
	}
}

// Over returns a channel that is closed when a limit of Until is over, or the context is done.
func Over(ctx context.Context, limit time.Duration) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		Until(ctx, limit, func() bool { return false })
	}()
	return over
}
