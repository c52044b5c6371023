package world

import (
	"testing"
	"time"

	"github.com/skewrig/skewrig/scenarios/model/watchdog"
)

// BenchmarkDay is 10 000 nodes for 24 hours, with an outage of all of them for
// ten minutes.
func BenchmarkDay(b *testing.B) {
	for b.Loop() {
		unknown := 0
		w := New(Config{
			Nodes: 10_000, Release: "v1.8.0", Watchdog: watchdog.Gardener(),
			On: func(_ time.Time, e Event) {
				if _, ok := e.(NodeChanged); ok {
					unknown++
				}
			},
		})
		w.RunUntil(w.After(12 * time.Hour))
		w.Set(w.Nodes(), Condition{Dropped: true})
		w.RunUntil(w.After(12*time.Hour + 10*time.Minute))
		w.Set(w.Nodes(), Condition{})
		w.RunUntil(w.After(24 * time.Hour))
		b.ReportMetric(float64(unknown), "changes")
	}
}
