// Package page is a clock that another process shows: a page of memory that
// both have mapped from a file. The process that sets the clock writes it; the
// other one reads it in its Go runtime, whenever it asks for the time of day
// (reader.go.txt, which harness/build compiles into it).
//
// A file in memory rather than a connection, since it is there before the
// first line of the other program runs, needs no server, and is set
// when the call that sets it returns.
package page

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/skewrig/skewrig/harness/clock"
)

// Env is the environment variable that tells a process the path of its page. If
// it is not set, the process shows the machine's time.
const Env = "SKEWRIG_CLOCK"

// Reader is the source of the file that makes Go's package runtime show the
// time of a page. It brings the function behind time.Now, and calls machineNow
// for what the machine's clock shows.
//
//go:embed reader.go.txt
var Reader []byte

// size is how much of the file is mapped.
const size = 4096

// layout is what is in a page; reader.go.txt has the same one.
type layout struct {
	// readers counts the processes that have mapped the page.
	readers atomic.Uint64
	// generation counts the changes of the clock. The clock that counts is in
	// slot generation%2; the next one is written to the other slot first, so
	// that no reader sees half of it, or ever waits.
	generation atomic.Uint64
	slots      [2]slot
}

// slot is a clock.Clock.
type slot struct {
	offset atomic.Int64  // nanoseconds
	drift  atomic.Uint64 // bits of a float64, millionths
	frozen atomic.Uint64 // 0 or 1
	since  atomic.Int64  // nanoseconds since 1970
}

func (s *slot) write(c clock.Clock) {
	var frozen uint64
	if c.Frozen {
		frozen = 1
	}
	var since int64
	if !c.Since.IsZero() {
		since = c.Since.UnixNano()
	}
	s.offset.Store(int64(c.Offset))
	s.drift.Store(math.Float64bits(c.Drift))
	s.frozen.Store(frozen)
	s.since.Store(since)
}

// Page is a clock that can be set for another process. A nil Page is one that no
// process shows.
type Page struct {
	path string

	mu     sync.Mutex
	memory []byte // nil once it is closed
}

// Create makes a page with a clock that is right. Only the user may read the
// file, which must not exist yet.
func Create(path string) (*Page, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the mapping stays
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	memory, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	return &Page{path: path, memory: memory}, nil
}

// Environment is the setting that tells a process of the page, as in
// os.Environ.
func (p *Page) Environment() string { return Env + "=" + p.path }

// Set makes the clock show something else, at once: who asks for the time after
// Set has returned gets the new one.
func (p *Page) Set(c clock.Clock) error {
	if err := check(c); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.memory == nil {
		return fmt.Errorf("the clock page %s is closed", p.path)
	}
	l := p.layout()
	generation := l.generation.Load() + 1
	l.slots[generation%2].write(c)
	l.generation.Store(generation)
	return nil
}

// Readers is how many processes have shown this clock so far. A process is
// counted before its first package is initialized.
func (p *Page) Readers() uint64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.memory == nil {
		return 0
	}
	return p.layout().readers.Load()
}

// Close removes the page. A process that shows its clock goes on with it as it
// is. It may be called again.
func (p *Page) Close() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.memory == nil {
		return nil
	}
	err := errors.Join(syscall.Munmap(p.memory), os.Remove(p.path))
	p.memory = nil
	return err
}

func (p *Page) layout() *layout { return (*layout)(unsafe.Pointer(&p.memory[0])) }

// check reports a clock that the reader can't show: it takes nanoseconds that fit.
func check(c clock.Clock) error {
	switch {
	case math.IsNaN(c.Drift) || math.IsInf(c.Drift, 0):
		return fmt.Errorf("a clock can't drift by %g ppm", c.Drift)
	case c.Since.IsZero() && (c.Frozen || c.Drift != 0):
		return fmt.Errorf("a clock that is %s needs to know since when", c)
	case !c.Since.IsZero() && !time.Unix(0, c.Since.UnixNano()).Equal(c.Since):
		return fmt.Errorf("a clock can't count from %s: years go from 1678 to 2262", c.Since)
	}
	return nil
}
