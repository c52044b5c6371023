// Package fuzzing limits what a reader may cost while Go's fuzzer makes up what it reads.
package fuzzing

import (
	"flag"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"
)

// Limits of one input.
const (
	// MaxCPU is the limit of the processor's time, which other programs don't use up.
	MaxCPU = 2 * time.Second
	// MaxHeap is the limit of the memory that the heap grows by, in bytes, garbage included.
	MaxHeap = 500 << 20
	// MaxWait is the limit of the time that passes: of a reader that waits for ever.
	MaxWait = 2 * time.Minute
)

// period is how often an input's costs are looked at.
const period = 20 * time.Millisecond

// Limited calls a function that reads an input. Where Go's fuzzer has made the input, the process
// panics once the function exceeds a limit: the fuzzer then stores the input. The plain test
// that reads stored inputs has no limits: its outcome must not depend on the machine.
func Limited(tb testing.TB, read func()) {
	tb.Helper()
	if !IsWorker() {
		read()
		return
	}
	done := make(chan struct{})
	defer close(done)
	debug.SetTraceback("all")
	go watch(done, used())
	read()
}

// IsWorker reports whether this is a process in which Go's fuzzer tries inputs. It gets them from
// another one, and needs no seeds.
func IsWorker() bool {
	worker := flag.Lookup("test.fuzzworker")
	return worker != nil && worker.Value.String() == "true"
}

func watch(done <-chan struct{}, before costs) {
	ticks := time.NewTicker(period)
	defer ticks.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticks.C:
			if excess := used().exceeding(before); excess != "" {
				panic("the input costs too much: " + excess) //nolint:forbidigo // it is how a fuzzer learns of an input
			}
		}
	}
}

// costs are what a process has used up to a time.
type costs struct {
	cpu  time.Duration
	heap uint64
	at   time.Time
}

func used() costs {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // it can't fail with these arguments
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	return costs{time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), heap[0].Value.Uint64(), time.Now()}
}

// exceeding describes the limit that was exceeded since other costs, or is empty.
func (c costs) exceeding(before costs) string {
	switch cpu, waited := c.cpu-before.cpu, c.at.Sub(before.at); {
	case cpu > MaxCPU:
		return fmt.Sprintf("%v of processor time", cpu)
	case c.heap > before.heap+MaxHeap:
		return fmt.Sprintf("%d MiB of memory", (c.heap-before.heap)>>20)
	case waited > MaxWait:
		return fmt.Sprintf("%v have passed", waited)
	}
	return ""
}
