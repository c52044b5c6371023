package main

import (
	"context"
	"fmt"

	"github.com/skewrig/skewrig/app"
)

// planning does what only computes, such as planning cells and compiling their expressions.
// An interruption ends the command at once: nothing is left behind that has to be ended.
func planning[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, app.Failed(fmt.Errorf("interrupted before anything was started: %w", context.Cause(ctx)))
	}
}
