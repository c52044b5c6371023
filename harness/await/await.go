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
// come: it only runs out where something is wrong.
func Until(ctx context.Context, limit time.Duration, is func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
