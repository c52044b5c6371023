package main

import (
	"context"
	"strings"
	"testing"
)

// TestPlanningIsInterrupted: a command that is interrupted does not wait for what only computes.
func TestPlanningIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	begun, never := make(chan bool), make(chan bool)
	defer close(never)
	go func() {
		<-begun
		interrupt()
	}()
	_, err := planning(ctx, func() (bool, error) {
		close(begun)
		return <-never, nil
	})
	if err == nil || !strings.Contains(err.Error(), "interrupted before anything was started") {
		t.Errorf("got %v", err)
	}
	if n, err := planning(t.Context(), func() (int, error) { return 1, nil }); n != 1 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}
