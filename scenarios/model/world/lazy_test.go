package world

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/scenarios/model/nodelife"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
)

// act does what a byte says to some node or to the world, and lets time pass.
func act(r *rig, do, arg byte) {
	nodes := r.Nodes()[:1+int(arg)%len(r.nodes)]
	offset := time.Duration(arg) * 500 * time.Millisecond
	switch do % 16 {
	case 0:
		r.Set(nodes, Condition{Dropped: true})
	case 1:
		r.Set(nodes, Condition{Stopped: true})
	case 2, 3:
		r.Set(nodes, Condition{})
	case 4:
		r.Set(nodes, Condition{Clock: clock.Clock{Offset: -offset}})
	case 5:
		r.Set(nodes, Condition{Clock: clock.Clock{Offset: offset}})
	case 6:
		r.Set(nodes, Condition{Clock: clock.Clock{Frozen: true, Since: r.Now()}})
	case 7:
		r.Set(nodes, Condition{Clock: clock.Clock{Drift: 20000 * float64(int8(arg)), Since: r.Now()}})
	case 8:
		r.SetAPIServer(false)
	case 9:
		r.SetAPIServer(true)
	case 10:
		r.SetLink(watchdog.Link{watchdog.ListLeases: watchdog.Lost})
	case 11:
		r.SetLink(nil)
	case 12:
		r.Set(nodes, Condition{Refused: true})
	case 13:
		r.Set(nodes, Condition{Circumstances: watchdog.NoNode})
	case 14:
		r.Node(int(arg) % len(r.nodes))
	case 15:
		d := r.Deployment(watchdog.ControllerManager)
		d.Replicas = int(arg) % 2
		r.SetDeployment(watchdog.ControllerManager, d)
	}
	r.run(float64(arg) * float64(1+do/16) / 10)
}

// FuzzNoClientSeesTheDifference compares a world that simulates a node only when it is read with
// one that simulates it at once: both record the same events.
func FuzzNoClientSeesTheDifference(f *testing.F) {
	f.Add(uint64(1), []byte{0x10, 250, 0xf2, 200})
	f.Add(uint64(2), []byte{0xf4, 130, 0x72, 9, 0xf5, 99, 0x04, 255})
	f.Add(uint64(3), []byte{0xf6, 200, 0xf7, 200, 0xf2, 255, 0x01, 30})
	f.Add(uint64(4), []byte{0x18, 120, 0xf9, 99, 0x4f, 30, 0x4f, 31, 0xfe, 255})
	f.Add(uint64(6), []byte{0xf6, 200, 0x3e, 9, 0xf7, 128, 0x3e, 9, 0xf2, 4, 0xf7, 128})
	f.Add(uint64(8), []byte{0xfe, 255, 0x18, 80, 0x19, 255, 0xfe, 249, 0x08, 74, 0x19, 255})
	f.Fuzz(func(t *testing.T, seed uint64, acts []byte) {
		story := func(eager bool) *rig {
			r := newRig(Config{
				Nodes: 5, Seed: seed, Release: "v1.8.0", Watchdog: one(),
				Controller: nodelife.Config{Period: time.Duration(1+seed%11) * time.Second, Trusting: seed%2 == 0},
			})
			r.eager = eager
			r.run(60)
			for i := 0; i+1 < min(len(acts), 64); i += 2 {
				act(r, acts[i], acts[i+1])
			}
			r.run(400)
			return r
		}
		lazy, eager := story(false), story(true)
		if diff := cmp.Diff(eager.lines, lazy.lines); diff != "" {
			t.Fatalf("(-at once +when looked at):\n%s", diff)
		}
		for i := range lazy.nodes {
			if lazy.Node(i) != eager.Node(i) {
				t.Errorf("node %d: %+v and %+v", i, lazy.Node(i), eager.Node(i))
			}
		}
	})
}

// TestNoClientSeesTheDifference compares them for nodes that die at any moment between two
// reports of their status, also while the API server is unavailable.
func TestNoClientSeesTheDifference(t *testing.T) {
	t.Parallel()
	for moment := range 1200 {
		for _, away := range []float64{0, 1, 8} {
			story := func(eager bool) []string {
				cfg := Config{Nodes: 3, Seed: uint64(moment), Release: "v1.8.0", Watchdog: one(), Controller: nodelife.Config{Trusting: true}}
				if moment%2 == 0 { // many reports, and more than one renewal between two looks
					cfg.Timing.Report, cfg.Controller.Period = 20*time.Second, 23*time.Second
				}
				r := newRig(cfg)
				r.eager = eager
				r.run(300 + float64(moment)*0.26)
				r.Node(0) // reads the node, which dies later
				r.run(float64(moment % 9))
				r.SetAPIServer(away == 0)
				r.run(away)
				r.SetAPIServer(true)
				r.run(away / 4)
				r.Set([]int{0}, Condition{Stopped: true})
				r.Set([]int{1}, Condition{Clock: clock.Clock{Offset: -time.Duration(moment) * 40 * time.Millisecond}})
				r.run(100)
				return r.lines
			}
			if diff := cmp.Diff(story(true), story(false)); diff != "" {
				t.Fatalf("at %d, away for %g s (-at once +when looked at):\n%s", moment, away, diff)
			}
		}
	}
}
