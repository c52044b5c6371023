package app

import (
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/reports"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// after is a moment so many seconds after noon.
func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func TestNothingIsKnownBeforeTheFirstCellEnds(t *testing.T) {
	t.Parallel()
	f := newForecast([]string{"a", "b"}, 2, nil)
	f.Begin("a", noon)
	if left, known := f.left(after(5)); known {
		t.Errorf("%s is left, it is said", left)
	}
	if got, want := f.Line(after(5)), "0 of 2 cells, 1 running"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTheRunItselfTeaches: a cell of 10 s makes 10 s of each other.
func TestTheRunItselfTeaches(t *testing.T) {
	t.Parallel()
	f := newForecast([]string{"a", "b", "c", "d"}, 2, nil)
	f.Begin("a", noon)
	f.Begin("b", noon)
	f.End("a", reports.Pass, after(10))
	f.Begin("c", after(10))
	// b: it should have ended; c: 6 s more; d: 10 s.
	left, known := f.left(after(14))
	if want := 10 * time.Second; !known || left != want {
		t.Errorf("%s left, want %s: the last cell has not begun", left, want)
	}
}

// TestAnEarlierRunTeaches: cells take what they took, as much slower as this run is.
func TestAnEarlierRunTeaches(t *testing.T) {
	t.Parallel()
	earlier := map[string]time.Duration{"a": 10 * time.Second, "b": 30 * time.Second, "long": time.Minute}
	f := newForecast([]string{"a", "b", "long", "new"}, 1, earlier)
	if left, known := f.left(noon); !known || left != (10+30+60+100/3)*time.Second+333333333*time.Nanosecond {
		t.Errorf("%s left before anything ran", left)
	}
	f.Begin("a", noon)
	f.End("a", reports.Pass, after(20)) // twice as slow
	f.Begin("b", after(20))
	if left, _ := f.left(after(40)); left != (40+120+20)*time.Second {
		t.Errorf("%s left, want 40 s of b, 120 s of long, and the average of this run", left)
	}
	// With enough rigs, the longest cell decides.
	f.parallel = 8
	if left, _ := f.left(after(40)); left != 2*time.Minute {
		t.Errorf("%s left on eight rigs", left)
	}
}

func TestTheLineCountsWhatWentWrong(t *testing.T) {
	t.Parallel()
	outcomes := []reports.Outcome{reports.Pass, reports.ExpectedFail, reports.Fail, reports.Flaky, reports.Unknown}
	var ids []string
	for i := range 7 {
		ids = append(ids, strings.Repeat("x", i+1))
	}
	f := newForecast(ids, 1, nil)
	for i, o := range outcomes {
		f.Begin(ids[i], noon)
		f.End(ids[i], o, after(100))
	}
	f.Begin(ids[5], after(100))
	want := "5 of 7 cells, 1 running, 2 failed, 1 not judged, about 3m left"
	if got := f.Line(after(100)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	f.End(ids[5], reports.Pass, after(101))
	f.Begin(ids[6], after(101))
	f.End(ids[6], reports.Pass, after(102))
	if got, want := f.Line(after(102)), "7 of 7 cells, 2 failed, 1 not judged"; got != want {
		t.Errorf("in the end: got  %q\nwant %q", got, want)
	}
}

func TestLengthsAreRough(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "a few seconds", 9 * time.Second: "a few seconds", 34 * time.Second: "about 30s",
		57 * time.Second: "about 60s", 90 * time.Second: "about 2m", 25 * time.Minute: "about 25m",
		62 * time.Minute: "about 1h00m", 2*time.Hour + 26*time.Minute: "about 2h30m",
	} {
		if got := roughly(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
