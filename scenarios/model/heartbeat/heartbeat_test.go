package heartbeat

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestRounds plays answers and tells the requests: u for one that writes, g for
// one that reads, and the times between them.
func TestRounds(t *testing.T) {
	t.Parallel()
	const all = "done, done, done"
	lost := func(n int) string { return strings.Repeat("lost, ", n) }
	refused := func(n int) string { return strings.Repeat("refused, ", n) }
	for name, tc := range map[string]struct {
		first   bool
		answers string
		random  float64
		want    string
	}{
		"all is well":      {false, all, 0, "u 10s u 10s u 10s"},
		"with jitter":      {false, "done, done", 0.5, "u 10.2s u 10.2s"},
		"it has started":   {true, "done, done", 0, "g 0s u 10s"},
		"it can't start":   {true, refused(2) + "done, done", 0, "g 200ms g 400ms g 0s u 10s"},
		"a hiccup":         {false, lost(1) + all, 0, "u 10s u 10s u 10s u 10s"},
		"refused, shortly": {false, refused(4) + "done", 0, "u 0s u 0s u 0s u 0s u 10s"},
		"refused, longer": {false, refused(7) + "done, done, done", 0,
			"u 0s u 0s u 0s u 0s u 0s g 200ms g 400ms g 0s u 10s u 10s"},
		"lost, for long": {false, lost(13) + "done, done", 0,
			"u 10s u 10s u 10s u 10s u 10s g 10.2s g 10.4s g 10.8s g 11.6s g 13.2s g 16.4s g 17s g 17s g 0s u 10s"},
		"it can be read and not written": {false, refused(5) + "done, " + refused(5) + "done", 0.5,
			"u 0s u 0s u 0s u 0s u 0s g 0s u 0s u 0s u 0s u 0s u 10.2s u 10.2s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r Round
			if tc.first {
				r = First()
			}
			timing := Timing{}.WithDefaults()
			var did []string
			for word := range strings.SplitSeq(tc.answers, ", ") {
				reads := r.reading
				got := map[string]Answer{"done": Done, "refused": Refused, "lost": Lost}[word]
				next, after, renewed := r.Next(got, timing, tc.random)
				if renewed != (got == Done && !reads) {
					t.Errorf("after %q it says renewed: %t", did, renewed)
				}
				r = next
				did = append(did, map[bool]string{true: "g", false: "u"}[reads], fmt.Sprint(after))
			}
			if got := strings.Join(did, " "); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	want := Timing{Interval: 10 * time.Second, Timeout: 10 * time.Second, Status: 10 * time.Second, Report: 5 * time.Minute}
	if got := (Timing{}).WithDefaults(); got != want {
		t.Errorf("%+v", got)
	}
	other := Timing{1, 2, 3, 4}
	if got := other.WithDefaults(); got != other {
		t.Errorf("%+v", got)
	}
}
