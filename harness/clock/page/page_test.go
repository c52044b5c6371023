package page

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/clock"
)

// What reads a page, and what it then shows, is tested where that is compiled:
// in harness/build.

func TestAPageIsItsUsersAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clock")
	p, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 || info.Size() != size {
		t.Errorf("the file is %v, %v", info, err)
	}
	if got := p.Environment(); got != "SKEWRIG_CLOCK="+path {
		t.Errorf("the environment of a process is %q", got)
	}
	if _, err := Create(path); err == nil {
		t.Error("the page of another clock was taken")
	}
	if n := p.Readers(); n != 0 {
		t.Errorf("%d processes show it, though none was started", n)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	if err := p.Set(clock.Clock{}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("setting a closed clock: %v", err)
	}
}

// TestAChangeGoesToTheOtherSlot: who is reading the one that counted gets all
// of it.
func TestAChangeGoesToTheOtherSlot(t *testing.T) {
	t.Parallel()
	p, err := Create(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	since := time.Unix(7, 9)
	for _, c := range []clock.Clock{{Offset: -1}, {Offset: 2, Drift: 0.5, Since: since}, {Frozen: true, Since: since}} {
		counted := p.layout().generation.Load()
		before := p.layout().slots[counted%2].read()
		if err := p.Set(c); err != nil {
			t.Fatal(err)
		}
		counts := p.layout().generation.Load()
		if after := p.layout().slots[counted%2].read(); counts != counted+1 || after != before {
			t.Errorf("%s: the slot that counted went from %+v to %+v, the generation from %d to %d", c, before, after, counted, counts)
		}
		if got := p.layout().slots[counts%2].read(); got != c {
			t.Errorf("%s: the slot that counts is %+v, want %+v", c, got, c)
		}
	}
}

func (s *slot) read() clock.Clock {
	c := clock.Clock{Offset: time.Duration(s.offset.Load()), Drift: math.Float64frombits(s.drift.Load()), Frozen: s.frozen.Load() == 1}
	if since := s.since.Load(); since != 0 {
		c.Since = time.Unix(0, since)
	}
	return c
}

func TestClocksThatCannotBeShown(t *testing.T) {
	t.Parallel()
	p, err := Create(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	for want, c := range map[string]clock.Clock{
		"a clock that is frozen needs to know since when":                   {Frozen: true},
		"a clock that is 1s behind, 3 ppm fast needs to know since when":    {Offset: -time.Second, Drift: 3},
		"a clock can't drift by NaN ppm":                                    {Drift: math.NaN()},
		"a clock can't drift by +Inf ppm":                                   {Drift: math.Inf(1)},
		"a clock can't count from 3000-01-01 00:00:00 +0000 UTC: years go ": {Since: time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if err := p.Set(c); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if p.layout().generation.Load() != 0 {
		t.Error("a clock that can't be shown was set")
	}
}
