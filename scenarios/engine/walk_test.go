package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

func TestWhoWalksInStep(t *testing.T) {
	t.Parallel()
	off := action.Restart{Component: "kube-apiserver", Gates: release.Gates{"A": false}}
	on := action.Restart{Component: "kube-apiserver", Gates: release.Gates{"A": true}}
	cell := func(id string, actions ...action.Action) plan.Cell {
		c := plan.Cell{ID: id}
		for _, a := range actions {
			c.Steps = append(c.Steps, plan.Step{Action: a})
		}
		return c
	}
	cleanup := cell("cleanup", off)
	cleanup.Steps[0].Run = record.Cleanup
	older := cell("older", off)
	older.Topology.Version = "v1.89.3"
	mayEnd := cell("may-end", off)
	mayEnd.Topology.MayEnd = []string{"kube-apiserver"}
	cells := []plan.Cell{
		cell("on", on),
		cell("off-on", off, action.Wait{}, on),
		cell("off", off),
		cell("off-too", action.Wait{}, off, action.Checks{}),
		cell("off-off", off, off),
		cell("metrics", off, action.Scrape{Component: "kube-apiserver"}),
		cell("own-metrics", off, action.Scrape{Component: "kubelet/a"}),
		cell("watched", action.Stop{Component: "kube-apiserver", Within: 1}),
		cleanup, older, mayEnd,
	}
	var got [][]string
	for _, g := range groups(cells, 4) {
		var ids []string
		for _, i := range g.walk {
			ids = append(ids, cells[i].ID)
		}
		got = append(got, ids)
	}
	slices.SortFunc(got, slices.Compare)
	want := [][]string{
		{"cleanup"}, {"may-end"}, {"metrics"}, {"off", "off-too", "own-metrics", "off-off"}, {"off-on"}, {"older"}, {"on"}, {"watched"},
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("walks %q, want %q", got, want)
	}
	if alone := groups([]plan.Cell{cells[2], cells[3]}, 1); len(alone) != 2 {
		t.Errorf("groups %+v, want one each where only one cell runs at a time", alone)
	}
}

// TestAChangeIsMadeOnce, when all are there, and each gets what came of it.
func TestAChangeIsMadeOnce(t *testing.T) {
	t.Parallel()
	const walkers, changes = 5, 20
	w := newWalk(walkers)
	failed := errors.New("failed")
	var mu sync.Mutex
	var at [walkers]int
	acted := 0
	var walking sync.WaitGroup
	for i := range walkers {
		walking.Go(func() {
			defer w.leave()
			for n := range changes {
				mu.Lock()
				at[i] = n
				mu.Unlock()
				err := w.meet(t.Context(), func() error {
					mu.Lock()
					defer mu.Unlock()
					acted++
					for other, there := range at {
						if there != n {
							t.Errorf("change %d is made while walker %d is at %d", n, other, there)
						}
					}
					return failed
				})
				if !errors.Is(err, failed) {
					t.Errorf("walker %d got %v of change %d", i, err, n)
				}
			}
		})
	}
	walking.Wait()
	if acted != changes {
		t.Errorf("changes were made %d times, want %d", acted, changes)
	}
}

// TestNobodyWaitsForWhoLeft, before a change or while the others wait.
func TestNobodyWaitsForWhoLeft(t *testing.T) {
	t.Parallel()
	w := newWalk(4)
	w.leave()
	acted := 0
	var walking sync.WaitGroup
	walking.Go(func() {
		if err := w.meet(t.Context(), func() error { acted++; return nil }); err != nil {
			t.Error(err)
		}
	})
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interrupted)
	if err := w.meet(ctx, func() error { return nil }); !errors.Is(err, interrupted) {
		t.Errorf("got %v, want the cause", err)
	}
	w.leave()
	w.leave()
	walking.Wait()
	if acted != 1 {
		t.Errorf("the change was made %d times, want once", acted)
	}
}
