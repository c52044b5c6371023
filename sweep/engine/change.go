package engine

import (
	"context"
	"slices"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/sweep/trial"
)

// change changes the components of the plan, one after the other.
func (r *run) change(ctx context.Context) error {
	for _, restart := range r.setting().Changes() {
		do := r.restart
		if record.Program(restart.Component) == record.APIServer {
			do = r.restartServer
		}
		if err := do(ctx, restart); err != nil {
			return err
		}
	}
	return nil
}

// restartServer restarts an API server, and notes what it no longer serves.
func (r *run) restartServer(ctx context.Context, to trial.Restart) error {
	config, err := r.cluster.Endpoint(to.Component)
	if err != nil {
		return err
	}
	before, err := served(config)
	if err != nil {
		return err
	}
	if err := r.restart(ctx, to); err != nil {
		return err
	}
	now, err := served(config)
	r.unserved = slices.DeleteFunc(before, func(resource string) bool { return slices.Contains(now, resource) })
	return err
}

// changeBack undoes it, the other way round.
func (r *run) changeBack(ctx context.Context) error {
	for _, restart := range r.setting().Reverts() {
		if err := r.restart(ctx, restart); err != nil {
			return err
		}
	}
	return nil
}

// setting is what the plan changes.
func (r *run) setting() trial.Setting {
	return trial.Setting{Version: r.Release.Version, Transition: r.plan.Transition, On: r.On(), To: r.off()}
}

func (r *run) restart(ctx context.Context, to trial.Restart) error {
	gates, err := r.known(ctx, to.Component, to.Gates)
	if err != nil {
		return err
	}
	if err := r.cluster.Restart(ctx, to.Component, cluster.Change{
		Version: to.Version, Gates: gates, Unset: to.Unset, Settings: record.Settings{EmulatedVersion: to.EmulatedVersion},
	}); err != nil {
		return err
	}
	return r.started(ctx, to.Component)
}

// off are the gates of the plan turned off, with those that can't be on without them.
func (r *run) off() release.Gates {
	off := make(release.Gates)
	for _, name := range r.plan.Gates {
		off[name] = false
	}
	return release.WithDependents(r.effective(), off)
}
