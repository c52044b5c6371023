package await

import (
	"testing"
	"time"
)

func TestUntil(t *testing.T) {
	t.Parallel()
	looks := 0
	if !Until(t.Context(), time.Minute, func() bool { looks++; return looks == 3 }) || looks != 3 {
		t.Errorf("what is true at the third look was looked at %d times", looks)
	}
	if Until(t.Context(), 3*poll, func() bool { return false }) {
		t.Error("what is never true became so")
	}
}
