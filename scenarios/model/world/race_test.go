package world

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/golden"
	"github.com/skewrig/skewrig/scenarios/model/nodelife"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
)

// races is how many outages there are of each kind, each with another seed and
// at another moment of the watchdog's interval.
const races = 40

// cut is what comes of an outage in which no node is heard.
type cut struct {
	unknown      int           // nodes that were called Unknown, though they are well
	unknownAfter time.Duration // until the first of them; 0 if there is none
	scaledAfter  time.Duration // until the watchdog took the controller away; 0 if it didn't
}

func race(cfg Config) cut {
	var c cut
	w := New(Config{})
	begins := w.After(600*time.Second + time.Duration(cfg.Seed)*1370*time.Millisecond)
	cfg.Nodes = 100
	cfg.On = func(at time.Time, e Event) {
		first := func(d *time.Duration) {
			if *d == 0 {
				*d = at.Sub(begins)
			}
		}
		switch e := e.(type) {
		case NodeChanged:
			c.unknown++
			first(&c.unknownAfter)
		case Changed:
			if e.Change.Scale && e.Dependent == watchdog.ControllerManager {
				first(&c.scaledAfter)
			}
		}
	}
	w = New(cfg)
	w.RunUntil(begins)
	w.Set(w.Nodes(), Condition{Dropped: true})
	w.RunUntil(begins.Add(4 * time.Minute))
	return c
}

// span is the least and the greatest of some times.
func span(cuts []cut, of func(cut) time.Duration) string {
	var all []time.Duration
	for _, c := range cuts {
		if d := of(c); d > 0 {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return "never"
	}
	return fmt.Sprintf("%4.1f - %4.1f s", slices.Min(all).Seconds(), slices.Max(all).Seconds())
}

// TestTheRace shows how often the watchdog comes first, for the grace periods
// that the controller may have.
func TestTheRace(t *testing.T) {
	t.Parallel()
	quick := gardeners() // the example of its repository: without an interval
	quick.Interval = 0
	undelayed := gardeners()
	undelayed.Interval, undelayed.Dependents[1].Up.InitialDelay = 0, 0
	var table strings.Builder
	fmt.Fprintf(&table, "%d outages, 100 nodes each; the watchdog is told of a grace period of 40 s\n\n", races)
	fmt.Fprintf(&table, "%-40s %-16s %-20s %-20s %s\n", "", "nodes Unknown", "first Unknown after", "watchdog after", "watchdog first")
	for _, grace := range []time.Duration{40 * time.Second, 50 * time.Second} {
		for _, of := range []struct {
			name     string
			release  string
			watchdog watchdog.Config
		}{
			{"no watchdog", "", watchdog.Config{}},
			{"every 10 s, no delays, v1.8.0", "v1.8.0", undelayed},
			{"every 10 s, Gardener's delays", "v1.8.0", quick},
			{"Gardener's, v1.8.0", "v1.8.0", gardeners()},
			{"Gardener's, v1.2.3", "v1.2.3", gardeners()},
		} {
			var cuts []cut
			unknown, first := 0, 0
			for seed := range races {
				c := race(Config{Seed: uint64(seed), Release: of.release, Watchdog: of.watchdog, Controller: nodelife.Config{Grace: grace}})
				cuts = append(cuts, c)
				unknown += c.unknown
				if c.unknown == 0 {
					first++
				}
				// No node becomes Unknown after the watchdog has scaled the controller down.
				if c.scaledAfter > 0 && c.unknownAfter > c.scaledAfter {
					t.Errorf("%s, seed %d: %+v", of.name, seed, c)
				}
			}
			fmt.Fprintf(&table, "%-40s %-16s %-20s %-20s %d of %d\n",
				fmt.Sprintf("grace %s: %s", grace, of.name), fmt.Sprintf("%d of %d", unknown, 100*races),
				span(cuts, func(c cut) time.Duration { return c.unknownAfter }),
				span(cuts, func(c cut) time.Duration { return c.scaledAfter }), first, races)
		}
	}
	golden.Check(t, "testdata/race.txt", table.String())
}

// TestClocksThatAreBehind: nothing is wrong but the clocks of all nodes. The
// watchdog believes them, and the controller doesn't, but for when they are set
// back.
func TestClocksThatAreBehind(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	fmt.Fprintf(&table, "100 nodes whose clocks are set back after 10 min; an hour is watched, with a grace period of 40 s\n\n")
	fmt.Fprintf(&table, "%7s  %-44s %-34s %s\n", "behind", "watchdog, v1.8.0", "controller of 1.36, alone", "controller of 1.37, alone")
	for _, s := range []int{0, 10, 20, 24, 25, 26, 27, 28, 29, 30, 35, 40, 42, 45, 50, 60, 600} {
		fmt.Fprintf(&table, "%5d s  %-44s %-34s %s\n", s, behind(s, "v1.8.0", false), behind(s, "", true), behind(s, "", false))
	}
	golden.Check(t, "testdata/clocks.txt", table.String())
}

func behind(seconds int, release string, trusting bool) string {
	var begins time.Time
	down, up, probes, unknown, again := 0, 0, 0, 0, time.Duration(0)
	w := New(Config{
		Nodes: 100, Release: release, Watchdog: one(), Controller: nodelife.Config{Grace: 40 * time.Second, Trusting: trusting},
		On: func(at time.Time, e Event) {
			switch e := e.(type) {
			case NodeChanged:
				if e.Ready == nodelife.Unknown {
					unknown++
				} else {
					again = at.Sub(begins)
				}
			case Probed:
				if !begins.IsZero() {
					probes++
				}
			case Changed:
				if e.Change.Scale && e.Change.Replicas == 0 {
					down++
				} else if e.Change.Scale {
					up++
				}
			}
		},
	})
	w.RunUntil(w.After(10 * time.Minute))
	begins = w.Now()
	w.Set(w.Nodes(), Condition{Clock: clock.Clock{Offset: -time.Duration(seconds) * time.Second}})
	w.RunUntil(begins.Add(time.Hour))
	if release != "" {
		return fmt.Sprintf("scales down %d and up %d times in %d probes", down, up, probes)
	}
	if unknown == 0 {
		return "leaves them all"
	}
	return fmt.Sprintf("calls %d Unknown, the last until %.0f s", unknown, again.Seconds())
}

// TestADayOfDrift: the clocks of all nodes are right, and too slow or too fast
// from then on. After a day, no node reaches its API server any more.
func TestADayOfDrift(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	fmt.Fprintf(&table, "100 nodes whose clocks drift for a day, then an outage of all, with a grace period of 40 s for both\n\n")
	fmt.Fprintf(&table, "%9s  %-16s %-44s %-18s %s\n", "drift", "after a day", "watchdog, v1.8.0, in that day", "in the outage", "nodes Unknown")
	for _, ppm := range []float64{0, -20, -100, -200, -250, -300, -350, -400, -1000, 20, 100, 200, 400, 1000} {
		fmt.Fprintf(&table, "%5g ppm  %s\n", ppm, drift(ppm))
	}
	golden.Check(t, "testdata/drift.txt", table.String())
}

func drift(ppm float64) string {
	const day = 24 * time.Hour
	var began, down, outage, acted time.Time
	times, unknown := 0, 0
	w := New(Config{
		Nodes: 100, Release: "v1.8.0", Watchdog: one(), Controller: nodelife.Config{Grace: 40 * time.Second},
		On: func(at time.Time, e Event) {
			switch e := e.(type) {
			case NodeChanged:
				unknown++
			case Changed:
				if !e.Change.Scale || e.Change.Replicas != 0 {
					return
				}
				if outage.IsZero() {
					down, times = cmp.Or(down, at), times+1
				} else {
					acted = cmp.Or(acted, at)
				}
			}
		},
	})
	w.RunUntil(w.After(10 * time.Minute))
	began = w.Now()
	drifting := clock.Clock{Drift: ppm, Since: began}
	w.Set(w.Nodes(), Condition{Clock: drifting})
	w.RunUntil(began.Add(day))
	outage = w.Now()
	w.Set(w.Nodes(), Condition{Clock: drifting, Dropped: true})
	w.RunUntil(outage.Add(10 * time.Minute))

	inDay, inOutage := "leaves them all", "it has acted before"
	if times > 0 {
		inDay = fmt.Sprintf("scales down after %.0f h, %d times in all", down.Sub(began).Hours(), times)
	}
	if !acted.IsZero() {
		inOutage = fmt.Sprintf("acts after %.0f s", acted.Sub(outage).Seconds())
	}
	return fmt.Sprintf("%-16s %-44s %-18s %d", clock.Clock{Offset: drifting.Read(outage).Sub(outage).Round(100 * time.Millisecond)}, inDay, inOutage, unknown)
}

// TestADeathThatIsNeverNoticed: a node's clock is set back by ten minutes, and
// the node dies before it has reported its status by the new time.
func TestADeathThatIsNeverNoticed(t *testing.T) {
	t.Parallel()
	for trusting, want := range map[bool]nodelife.Status{true: nodelife.Unknown, false: nodelife.True} {
		w := New(Config{Nodes: 3, Controller: nodelife.Config{Trusting: trusting}})
		for w.Node(1).Heartbeat.Before(w.Now().Add(-time.Second)) {
			w.RunUntil(w.Now().Add(time.Second)) // it has just reported its status
		}
		w.RunUntil(w.Now().Add(10 * time.Second))
		w.Set([]int{1}, Condition{Clock: clock.Clock{Offset: -10 * time.Minute}})
		w.RunUntil(w.Now().Add(time.Minute))
		w.Set([]int{1}, Condition{Stopped: true})
		w.RunUntil(w.Now().Add(24 * time.Hour))
		if got := w.Node(1).Ready; got != want {
			t.Errorf("a controller that is trusting=%t has it as %s after a day, want %s", trusting, got, want)
		}
	}
}
