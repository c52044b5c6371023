// Package engine runs sweeps on real components: it makes the objects of a sweep, turns gates off and on, and
// touches the objects. Package trial says which objects, and what is wrong with what was seen.
package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/sweep/gated"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Config says what to sweep.
type Config struct {
	// Release has the gates, and API its types.
	Release gated.Release
	API     *apitypes.API
	// Gates are those that are swept. If unset, all that can be set and guard fields.
	Gates []string
	// Kinds are the kinds of objects. If unset, all that have a field.
	Kinds []string
	// Binary finds the executable of a component. Builder.Binary does.
	Binary func(context.Context, build.Target) (build.Binary, error)
	// History takes the record, and ends with the sweep.
	History *record.History
	// LogDir takes the components' logs.
	LogDir string
	// Tell is called with what the sweep does. If unset, that is not reported.
	Tell func(string)
}

// Swept is what a sweep saw.
type Swept struct {
	// Reached are the fields in the objects of kinds, with those that no object could be made with.
	Reached []Reached
	Seen    trial.Seen
}

// Run sweeps all gates at once.
func Run(ctx context.Context, cfg Config) (swept Swept, err error) {
	on := cfg.gates()
	c, err := cluster.New(ctx, cfg.cluster(on))
	if err != nil {
		return swept, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	ctx, cancel := c.Bind(ctx)
	defer cancel()
	r := &run{Config: cfg, cluster: c, on: on, answers: make(map[string]trial.Answers), began: make(map[trial.Phase]time.Time)}
	if r.server, err = newServer(c.RESTConfig()); err != nil {
		return swept, err
	}
	if err := makeNamespace(ctx, c); err != nil {
		return swept, err
	}
	uses, reached, err := r.reach(ctx)
	if err != nil {
		return swept, err
	}
	r.items = trial.Items(uses)
	if err := r.phases(ctx); err != nil {
		return swept, err
	}
	seen := trial.Seen{Items: r.items, Namespace: namespace, Began: r.began, Ended: time.Now(), Answers: r.answers}
	cfg.History.End()
	seen.Timeline = timeline.Of(cfg.History.Events())
	if unseen := trial.Unseen(seen); len(unseen) > 0 {
		return swept, fmt.Errorf("%d objects were never seen, %s %s the first", len(unseen), unseen[0].Kind, unseen[0].Name)
	}
	return Swept{Reached: reached, Seen: seen}, cfg.History.Err()
}

// gates are those that are turned on, and off.
func (cfg Config) gates() release.Gates {
	on := make(release.Gates)
	for _, g := range cfg.Release.Gates {
		if !g.Locked && len(g.Fields) > 0 && (len(cfg.Gates) == 0 || slices.Contains(cfg.Gates, g.Name)) {
			on[g.Name] = true
		}
	}
	return release.WithDependents(cfg.effective(), on)
}

func (cfg Config) effective() release.Effective {
	return release.Effective{Version: cfg.Release.Version}
}

// cluster is an API server that serves all versions of all kinds, and a controller manager that is not
// held back by its own limits.
func (cfg Config) cluster(on release.Gates) cluster.Config {
	v := cfg.Release.Version
	all := record.Settings{Flags: map[string]string{"runtime-config": "api/all=true"}}
	fast := record.Settings{Flags: map[string]string{"kube-api-qps": "1000", "kube-api-burst": "2000"}}
	observed := make(map[string]bool)
	for _, f := range cfg.Release.Fields() {
		for _, p := range f.Places {
			if cfg.wantsKind(p.Kind) {
				observed[strings.ToLower(p.Kind)] = true
			}
		}
	}
	return cluster.Config{
		Topology: record.Topology{
			Version: v, Gates: on, ControllerManager: true, Observed: slices.Sorted(maps.Keys(observed)),
			Members: []record.Component{
				{Name: record.APIServer, Version: v, Gates: on, Settings: all},
				{Name: record.ControllerManager, Version: v, Gates: on, Settings: fast},
			},
		},
		Binary: cfg.Binary, Purpose: "sweep", Recorder: cfg.History, LogDir: cfg.LogDir,
	}
}

func (cfg Config) wantsKind(name string) bool {
	return len(cfg.Kinds) == 0 || slices.Contains(cfg.Kinds, name)
}

func (cfg Config) tell(format string, args ...any) {
	if cfg.Tell != nil {
		cfg.Tell(fmt.Sprintf(format, args...))
	}
}
