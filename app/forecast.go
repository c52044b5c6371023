package app

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Forecast is how far a run has come, and when it may be over. It knows what
// cells took in an earlier run, if there was one, and learns from this one how
// fast this one is. Several goroutines may use it.
type Forecast struct {
	parallel int
	earlier  map[string]time.Duration // by the cell's id

	mu                     sync.Mutex
	waiting                map[string]bool
	running                map[string]time.Time
	took                   map[string]time.Duration
	failed, unjudged, done int
}

// NewForecast begins a run of cells, as often and as many at a time as the
// options say. The report that is in their directory has what cells took earlier.
func NewForecast(cells []plan.Cell, o Options) *Forecast {
	var ids []string
	for number := range max(o.Repeat, 1) {
		for _, c := range cells {
			ids = append(ids, runLabel(c.ID, number+1))
		}
	}
	parallel := within(cells, o.Parallel, containerd.Instances())
	if !o.Isolate {
		parallel = engine.Beside(parallel, cells)
	}
	return newForecast(ids, parallel, durations(o.Dir))
}

func newForecast(ids []string, parallel int, earlier map[string]time.Duration) *Forecast {
	f := &Forecast{
		parallel: max(parallel, 1), earlier: earlier, waiting: make(map[string]bool),
		running: make(map[string]time.Time), took: make(map[string]time.Duration),
	}
	for _, id := range ids {
		f.waiting[id] = true
	}
	return f
}

// Begin says that a run of a cell has begun.
func (f *Forecast) Begin(id string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waiting, id)
	f.running[id] = now
}

// End says that it has ended. It returns how many runs of cells have, and how many
// there are.
func (f *Forecast) End(id string, outcome reports.Outcome, now time.Time) (done, all int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.took[id] = now.Sub(f.running[id])
	delete(f.running, id)
	switch {
	case outcome.Nonconforming():
		f.failed++
	case !outcome.Expected():
		f.unjudged++
	}
	f.done++
	return f.done, f.all()
}

func (f *Forecast) all() int { return f.done + len(f.running) + len(f.waiting) }

// left is how long the run may still take. It is not known before a cell has
// ended, unless there was an earlier run.
func (f *Forecast) left(now time.Time) (left time.Duration, known bool) {
	expected := f.expectations()
	if expected == nil {
		return 0, false
	}
	var work, longest time.Duration
	add := func(d time.Duration) { work, longest = work+d, max(longest, d) }
	for id := range f.waiting {
		add(expected(id))
	}
	for id, began := range f.running {
		add(max(expected(id)-now.Sub(began), 0))
	}
	return max(work/time.Duration(f.parallel), longest), true
}

// expectations say how long a cell takes: as long as in the earlier run, as much
// faster or slower as this run was so far; and for a cell that was not in it, the
// average of what is known. They are nil if nothing is.
func (f *Forecast) expectations() func(id string) time.Duration {
	known, pace := f.took, 1.0
	if len(known) == 0 {
		known = f.earlier
	}
	if len(known) == 0 {
		return nil
	}
	var all, now, then time.Duration
	for id, d := range known {
		all += d
		if before, has := f.earlier[id]; has {
			now, then = now+d, then+before
		}
	}
	if then > 0 {
		pace = float64(now) / float64(then)
	}
	return func(id string) time.Duration {
		if before, has := f.earlier[id]; has {
			return time.Duration(float64(before) * pace)
		}
		return all / time.Duration(len(known))
	}
}

// Line says it in a line: 12 of 76 cells, 5 running, 1 failed, about 3m left.
func (f *Forecast) Line(now time.Time) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	parts := []string{fmt.Sprintf("%d of %d cells", f.done, f.all())}
	for _, part := range []struct {
		count int
		what  string
	}{{len(f.running), "running"}, {f.failed, "failed"}, {f.unjudged, "not judged"}} {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.what))
		}
	}
	if left, known := f.left(now); known && f.done < f.all() {
		parts = append(parts, roughly(left)+" left")
	}
	return strings.Join(parts, ", ")
}

// roughly is a length of time as precisely as a guess deserves it.
func roughly(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "a few seconds"
	case d < time.Minute:
		return fmt.Sprintf("about %ds", int(d.Round(10*time.Second).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("about %dm", int(d.Round(time.Minute).Minutes()))
	default:
		d = d.Round(10 * time.Minute)
		return fmt.Sprintf("about %dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

// durations are what the cells of the report in a directory took. A report that
// is not there, or can't be read, has none: it is a guess that is at stake.
func durations(dir string) map[string]time.Duration {
	report, err := ReadReport(dir)
	if err != nil {
		return nil
	}
	took := make(map[string]time.Duration)
	for _, c := range report.Cells {
		if c.DurationSeconds > 0 {
			took[c.ID] = time.Duration(c.DurationSeconds * float64(time.Second))
		}
	}
	return took
}
