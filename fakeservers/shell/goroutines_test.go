package shell

import (
	"context"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// TestGoroutinesAreCountedByContainer: one with many takes nothing from another.
func TestGoroutinesAreCountedByContainer(t *testing.T) {
	t.Parallel()
	const many = 50
	a, b := &session{files: &image.Process{Container: "default/a/app"}}, &session{files: &image.Process{Container: "default/b/app"}}
	end := make(chan struct{})
	defer close(end)
	a.labeled(t.Context(), func(context.Context) int {
		for range many {
			go func() { <-end }()
		}
		return 0
	})
	if n, others := a.countGoroutines(), b.countGoroutines(); n != many || others != 0 {
		t.Errorf("%d of the container, %d of another, want %d and 0", n, others, many)
	}
}
