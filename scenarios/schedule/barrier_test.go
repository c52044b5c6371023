package schedule

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// TestAChangeIsMadeOnce, when all are there, and each gets what came of it.
func TestAChangeIsMadeOnce(t *testing.T) {
	t.Parallel()
	const members, changes = 5, 20
	w := NewBarrier(members)
	failed := errors.New("failed")
	var mu sync.Mutex
	var at [members]int
	acted := 0
	var running sync.WaitGroup
	for i := range members {
		running.Go(func() {
			defer w.Leave()
			for n := range changes {
				mu.Lock()
				at[i] = n
				mu.Unlock()
				err := w.Meet(t.Context(), func() error {
					mu.Lock()
					defer mu.Unlock()
					acted++
					for other, there := range at {
						if there != n {
							t.Errorf("change %d is made while member %d is at %d", n, other, there)
						}
					}
					return failed
				})
				if !errors.Is(err, failed) {
					t.Errorf("member %d got %v of change %d", i, err, n)
				}
			}
		})
	}
	running.Wait()
	if acted != changes {
		t.Errorf("changes were made %d times, want %d", acted, changes)
	}
}

// TestAMemberThatLeftBlocksNoOther, before a change or while the others wait.
func TestAMemberThatLeftBlocksNoOther(t *testing.T) {
	t.Parallel()
	w := NewBarrier(4)
	w.Leave()
	acted := 0
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.Meet(t.Context(), func() error { acted++; return nil }); err != nil {
			t.Error(err)
		}
	})
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interrupted)
	if err := w.Meet(ctx, func() error { return nil }); !errors.Is(err, interrupted) {
		t.Errorf("got %v, want the cause", err)
	}
	w.Leave()
	w.Leave()
	running.Wait()
	if acted != 1 {
		t.Errorf("the change was made %d times, want once", acted)
	}
}
