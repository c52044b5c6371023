package engine

import (
	"context"
	"slices"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// change changes the components of the plan, one after the other.
func (r *run) change(ctx context.Context) error {
	there := cluster.Change{Version: r.plan.Turn.To, Unset: r.On().Names()}
	if r.plan.Turn.To == "" {
		there = cluster.Change{Gates: r.off()}
	}
	for _, component := range r.plan.Turn.At {
		do := r.restart
		if record.Program(component) == record.APIServer {
			do = r.restartServer
		}
		if err := do(ctx, component, there); err != nil {
			return err
		}
	}
	return nil
}

// restartServer restarts an API server, and notes what it no longer serves.
func (r *run) restartServer(ctx context.Context, component string, change cluster.Change) error {
	config, err := r.cluster.Endpoint(component)
	if err != nil {
		return err
	}
	before, err := served(config)
	if err != nil {
		return err
	}
	if err := r.restart(ctx, component, change); err != nil {
		return err
	}
	now, err := served(config)
	r.unserved = slices.DeleteFunc(before, func(resource string) bool { return slices.Contains(now, resource) })
	return err
}

// changeBack undoes it, the other way round.
func (r *run) changeBack(ctx context.Context) error {
	on := r.On()
	back := cluster.Change{Gates: on, Version: r.Release.Version}
	if r.plan.Turn.To == "" {
		for name := range r.off() { // what had to be turned off too
			if _, set := on[name]; !set {
				back.Unset = append(back.Unset, name)
			}
		}
	}
	for _, component := range slices.Backward(r.plan.Turn.At) {
		if err := r.restart(ctx, component, back); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) restart(ctx context.Context, component string, change cluster.Change) error {
	if err := r.cluster.Restart(ctx, component, change); err != nil {
		return err
	}
	return r.started(ctx, component)
}

// off are the gates of the plan turned off, with those that can't be on without them.
func (r *run) off() release.Gates {
	off := make(release.Gates)
	for _, name := range r.plan.Gates {
		off[name] = false
	}
	return release.WithDependents(r.effective(), off)
}
