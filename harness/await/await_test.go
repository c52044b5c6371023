package await

import (
	"testing"
	"testing/synctest"
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

// TestTheLimit is longer on a machine that is busy, whose ticks are late: nothing else may have run meanwhile either.
func TestTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 10 * poll
	for name, c := range map[string]struct {
		late, look time.Duration
		want       time.Duration
	}{
		"nothing is late":    {want: limit},
		"ticks are late":     {late: 9 * poll, want: 10 * limit},
		"looking takes long": {look: limit / 2, want: limit + poll},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tick := time.NewTicker(poll + c.late)
				defer tick.Stop()
				began := time.Now()
				until(t.Context(), limit, tick.C, func() bool { time.Sleep(c.look); return false })
				if took := time.Since(began); took < c.want-poll || took > c.want+poll {
					t.Errorf("it took %s, want %s", took, c.want)
				}
			})
		})
	}
	began := time.Now()
	if <-Over(t.Context(), limit); time.Since(began) < limit {
		t.Error("it was over too early")
	}
}
