package engine

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/skewrig/skewrig/scenarios/check"
)

// sampleEvery is how often the machine's lateness is measured.
const sampleEvery = 50 * time.Millisecond

// watchLateness measures how late timers fire until the returned function is
// called.
func watchLateness() (stop func() check.Lateness) {
	ctx, cancel := context.WithCancel(context.Background())
	var (
		measured check.Lateness
		sum      float64
		samples  int
		done     sync.WaitGroup
	)
	done.Go(func() {
		timer := time.NewTimer(sampleEvery)
		defer timer.Stop()
		for due := time.Now().Add(sampleEvery); ; due = time.Now().Add(sampleEvery) {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			late := time.Since(due).Seconds()
			sum, samples = sum+late, samples+1
			measured.Worst = math.Max(measured.Worst, late)
			timer.Reset(sampleEvery)
		}
	})
	return func() check.Lateness {
		cancel()
		done.Wait()
		if samples > 0 {
			measured.Mean = sum / float64(samples)
		}
		return measured
	}
}
