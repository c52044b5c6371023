package provider

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/skewrig/skewrig/record"
)

const (
	// sampleEvery is how often the machine is looked at.
	sampleEvery = 50 * time.Millisecond
	// ownQueue is how many threads for each processor rigs have themselves, as
	// many as run at the same time by default. Deadlines are meant for that.
	ownQueue = 4
	// maxStretch is the most by which a deadline is stretched, so that a cell ends on a
	// host on which others have hundreds of threads wait.
	maxStretch = 16
)

// Machine measures how the machine keeps up while a cell runs, and has a clock
// that is as slow as the machine: deadlines by that clock don't depend on how
// fast or how busy the machine is.
//
// A timer that fires late stops the clock until it does. More threads that want
// to run than a run of rigs has itself slow it down by as much as each of them
// is slowed down.
type Machine struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	elapsed time.Duration // by the machine's clock
	samples int
	late    float64 // sum, in seconds
	worst   float64
	queue   float64 // sum of threads per processor
}

// WatchMachine begins to measure. The machine must be stopped. Queue returns how many threads run or want to run, for each
// processor. If unset, those of this machine count.
func WatchMachine(queue func() float64) *Machine {
	if queue == nil {
		queue = threadsPerProcessor
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &Machine{cancel: cancel}
	m.done.Go(func() {
		timer := time.NewTimer(sampleEvery)
		defer timer.Stop()
		for due := time.Now().Add(sampleEvery); ; due = time.Now().Add(sampleEvery) {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			m.sample(time.Since(due), queue())
			timer.Reset(sampleEvery)
		}
	})
	return m
}

func (m *Machine) sample(late time.Duration, queue float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples++
	m.late += late.Seconds()
	m.worst = math.Max(m.worst, late.Seconds())
	m.queue += queue
	m.elapsed += time.Duration(float64(sampleEvery) / min(max(queue/ownQueue, 1), maxStretch))
}

// Now is the time by the machine's clock, from its start.
func (m *Machine) Now() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.elapsed
}

// Stop ends the measuring and returns the result.
func (m *Machine) Stop() record.Lateness {
	m.cancel()
	m.done.Wait()
	return m.Lateness()
}

// Lateness is the result until now.
func (m *Machine) Lateness() record.Lateness {
	m.mu.Lock()
	defer m.mu.Unlock()
	samples := float64(max(m.samples, 1))
	return record.Lateness{Mean: m.late / samples, Worst: m.worst, Queue: m.queue / samples}
}

// WithTimeout is context.WithTimeoutCause by the machine's clock.
func (m *Machine) WithTimeout(ctx context.Context, limit time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	start := m.Now()
	go func() {
		for {
			left := limit - (m.Now() - start)
			if left <= 0 {
				cancel(cause)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(left, sampleEvery)):
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// threadsPerProcessor is how many threads run or want to run, for each
// processor: the fourth field of /proc/loadavg (proc_loadavg(5)). Where that
// can't be read, there is no queue.
func threadsPerProcessor() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	var loads [3]float64
	var running int
	if _, err := fmt.Sscanf(string(text), "%f %f %f %d/", &loads[0], &loads[1], &loads[2], &running); err != nil {
		return 0
	}
	return float64(running) / float64(runtime.NumCPU())
}
