package engine

import (
	"context"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/ask"
)

// Objects are at rest if none is written for still, and controllers have seen them. That is waited for until limit, every so
// often: as long as a scenario of one object waits for its status.
const (
	still = 3 * time.Second
	limit = 30 * time.Second
	often = time.Second / 4
)

// rest waits until objects are at rest, but for those that are written without end, and notes if they are not.
// It is about a phase that began at a time.
func (r *run) rest(ctx context.Context, began time.Time) error {
	from := time.Now()
	for time.Since(from) < limit {
		if err := ask.Sleep(ctx, often); err != nil {
			return err
		}
		since := time.Now().Add(-still)
		if since.After(from) && r.plan.Rests(namespace, r.history.Events(), began, since) {
			return nil
		}
	}
	r.restless = true
	return nil
}

// A controller manager that starts asks for all that it watches, which takes this many requests at least. One that
// finds no API server meanwhile ends.
const beginning = 100

// started waits until a component that was started has begun to work.
func (r *run) started(ctx context.Context, component string) error {
	if record.Program(component) != record.ControllerManager {
		return nil
	}
	until, first := time.Now().Add(limit), r.requests()
	for before := first; time.Now().Before(until); {
		if err := ask.Sleep(ctx, time.Second); err != nil {
			return err
		}
		now := r.requests()
		if now == before && now-first >= beginning {
			return nil
		}
		before = now
	}
	return nil
}

// requests is how often a component asked an API server for something.
func (r *run) requests() (n int) {
	for _, e := range r.history.Events() {
		if e.Kind == (record.LinkRequest{}).EventKind() {
			n++
		}
	}
	return n
}
