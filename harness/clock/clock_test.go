package clock

import (
	"testing"
	"time"
)

func TestClocks(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_000_000, 0)
	later := start.Add(time.Hour)
	for want, tc := range map[string]struct {
		clock Clock
		shows time.Duration // ahead of later
	}{
		"right":                   {Clock{}, 0},
		"35s behind":              {Clock{Offset: -35 * time.Second}, -35 * time.Second},
		"1s ahead, 1000 ppm fast": {Clock{Offset: time.Second, Drift: 1000, Since: start}, 4600 * time.Millisecond},
		"200 ppm slow":            {Clock{Drift: -200, Since: start}, -720 * time.Millisecond},
		"frozen":                  {Clock{Frozen: true, Since: start}, -time.Hour},
		"1m0s ahead, frozen":      {Clock{Offset: time.Minute, Frozen: true, Since: start}, time.Minute - time.Hour},
	} {
		if got := tc.clock.String(); got != want {
			t.Errorf("%+v is %q, want %q", tc.clock, got, want)
		}
		if got := tc.clock.Read(later).Sub(later); got != tc.shows {
			t.Errorf("%s: %s ahead, want %s", want, got, tc.shows)
		}
		if got := tc.clock.When(tc.clock.Read(later)); !tc.clock.Frozen && got.Sub(later).Abs() > time.Microsecond {
			t.Errorf("%s: it showed the time at %s, and not at %s", want, got, later)
		}
	}
}

// TestAStepKeepsWhatHasDrifted, and thaws a clock that is frozen.
func TestAStepKeepsWhatHasDrifted(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_000_000, 0)
	c := Clock{Drift: 1000, Since: start}.Step(start.Add(1000*time.Second), -time.Minute)
	if got, want := c.Read(start.Add(2000*time.Second)), start.Add(2000*time.Second-time.Minute+2*time.Second); !got.Equal(want) {
		t.Errorf("it shows %s, want %s", got, want)
	}
	frozen := Clock{Frozen: true, Since: start}.Step(start.Add(time.Minute), time.Minute)
	if got, want := frozen.Read(start.Add(time.Hour)), start.Add(time.Hour); !got.Equal(want) {
		t.Errorf("it shows %s, want %s", got, want)
	}
}
