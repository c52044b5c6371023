package main

import (
	"bytes"
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

// TestSimulateCanBeInterrupted while it plans and while it plays.
func TestSimulateCanBeInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"simulate", "dwd/**"}, &stdout, &stderr); code != exitNotJudged || !strings.Contains(stderr.String(), "interrupted before anything was started") {
		t.Errorf("exit code %d: %s%s", code, &stdout, &stderr)
	}
}
