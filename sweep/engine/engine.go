package engine

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/sweep/trial"
)

// run is a sweep that runs.
type run struct {
	Config

	cluster *cluster.Cluster
	server  *server
	on      release.Gates
	items   []trial.Item
	began   map[trial.Phase]time.Time

	mu      sync.Mutex
	answers map[string]trial.Answers // by the name of the item
}

// phases makes the objects, turns the gates off, touches the objects, and turns the gates on again.
func (r *run) phases(ctx context.Context) error {
	off := make(release.Gates)
	for name := range r.on {
		off[name] = false
	}
	off = release.WithDependents(r.effective(), off)
	var byDefault []string // that had to be turned off too
	for name := range off {
		if _, set := r.on[name]; !set {
			byDefault = append(byDefault, name)
		}
	}
	for _, p := range []struct {
		phase trial.Phase
		do    func() error
	}{
		{trial.On, func() error { return r.make(ctx) }},
		{trial.Off, func() error { return r.restart(ctx, cluster.Change{Gates: off}) }},
		{trial.Touched, func() error { return r.each(ctx, r.touch) }},
		{trial.Again, func() error { return r.restart(ctx, cluster.Change{Gates: r.on, Unset: byDefault}) }},
	} {
		r.began[p.phase] = time.Now()
		r.tell("phase %s, %d objects", p.phase, len(r.items))
		if err := p.do(); err != nil {
			return err
		}
		if err := r.quiet(ctx); err != nil {
			return err
		}
	}
	return nil
}

// make makes the objects, and asks what would be said of each touch.
func (r *run) make(ctx context.Context) error {
	if err := r.each(ctx, r.create); err != nil {
		return err
	}
	return r.each(ctx, r.rehearse)
}

func (r *run) restart(ctx context.Context, c cluster.Change) error {
	return r.cluster.Restart(ctx, record.APIServer, c)
}

// atOnce is how many objects are written at the same time.
const atOnce = 16

func (r *run) each(ctx context.Context, do func(context.Context, trial.Item) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, i := range r.items {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// What is written within still is looked at for at most limit.
const (
	still = 3 * time.Second
	limit = 30 * time.Second
)

// quiet waits until nothing is written for a while, but not for long.
func (r *run) quiet(ctx context.Context) error {
	until := time.Now().Add(limit)
	n := len(r.History.Events())
	for time.Now().Before(until) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(still):
		}
		now := len(r.History.Events())
		if now == n {
			return nil
		}
		n = now
	}
	return nil
}
