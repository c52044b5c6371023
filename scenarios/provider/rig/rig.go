// Package rig runs cells on rigs: real components as processes of this machine, and simulated nodes. Cells that don't notice
// share a control plane.
package rig

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/garden"
	"github.com/skewrig/skewrig/harness/lease"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Rig is a cluster with what is beside it: simulated nodes, and a seed with a watchdog.
type Rig struct {
	*cluster.Cluster
	fleet  *lease.Fleet     // nil: no simulated nodes
	seed   *cluster.Cluster // nil: no garden
	garden *garden.Garden
}

// Start starts what a topology describes. If it can't, nothing is left.
func Start(ctx context.Context, t record.Topology, shoot cluster.Config) (_ *Rig, err error) {
	l := new(Rig)
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	seed, err := seedConfig(t, shoot)
	if err != nil {
		return nil, err
	}
	group, grouped := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		l.Cluster, err = cluster.New(grouped, shoot)
		return err
	})
	if t.Garden != nil {
		group.Go(func() (err error) {
			l.seed, err = cluster.New(grouped, seed)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	ctx, cancel := l.Bind(ctx)
	defer cancel()
	if t.LeaseNodes != nil {
		client, err := l.ClientConfig(spec.LeasingNodes)
		if err != nil {
			return nil, err
		}
		if l.fleet, err = lease.Start(ctx, lease.Config{Client: client, Nodes: *t.LeaseNodes, Recorder: shoot.Recorder}); err != nil {
			return nil, err
		}
	}
	if t.Garden != nil {
		config := garden.Config{Shoot: l.Cluster, Seed: l.seed, Garden: *t.Garden}
		if l.fleet != nil {
			config.Nodes = l.fleet.Names("")
		}
		if l.garden, err = garden.Open(ctx, config); err == nil {
			err = l.seed.Observe(ctx)
		}
	}
	return l, err
}

// seedConfig is the configuration of the rig that is the seed, beside that of
// the shoot. It is empty without a garden.
func seedConfig(t record.Topology, shoot cluster.Config) (cluster.Config, error) {
	if t.Garden == nil {
		return cluster.Config{}, nil
	}
	config := cluster.Config{
		Topology: record.Topology{Version: t.Version, Observed: ofSeed(t.Observed), MayEnd: ofSeed(t.MayEnd)},
		Binary:   shoot.Binary, TempDir: shoot.TempDir, Purpose: seedPurpose(shoot.Purpose), ReportDir: shoot.ReportDir,
	}
	if shoot.LogDir != "" {
		config.LogDir = filepath.Join(shoot.LogDir, spec.Seed)
	}
	if shoot.Recorder != nil {
		config.Recorder = garden.Recorder(shoot.Recorder)
	}
	if t.Garden.Watchdog == "" {
		return config, nil
	}
	prober, err := yaml.Marshal(t.Garden.Prober)
	if err != nil {
		return config, err
	}
	config.Watchdog = &cluster.Watchdog{Version: t.Garden.Watchdog, Config: prober}
	config.Links = []cluster.Link{{From: spec.Watchdog, HTTP: true}}
	return config, nil
}

// SetPurpose says what the rig is for from now on.
func (l *Rig) SetPurpose(purpose string) error {
	err := l.Cluster.SetPurpose(purpose)
	if l.seed != nil {
		err = errors.Join(err, l.seed.SetPurpose(seedPurpose(purpose)))
	}
	return err
}

// seedPurpose is what the seed of a rig is for.
func seedPurpose(purpose string) string { return purpose + "/" + spec.Seed }

// ofSeed are those of the names that are the seed's, as it has them.
func ofSeed(names []string) (own []string) {
	for _, name := range names {
		if in, is := strings.CutPrefix(name, spec.Seed+"/"); is || name == spec.Watchdog {
			own = append(own, in)
		}
	}
	return own
}

// Bind returns a context that ends with ctx, and also as soon as something of the
// rig can't go on, with that as its cause.
func (l *Rig) Bind(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, unbind := l.Cluster.Bind(ctx)
	if l.seed == nil {
		return ctx, unbind
	}
	ctx, unbindSeed := l.seed.Bind(ctx)
	bound, cancel := context.WithCancelCause(ctx)
	stop := func() bool { return true }
	if l.garden != nil {
		ended := l.garden.Context()
		stop = context.AfterFunc(ended, func() { cancel(context.Cause(ended)) })
	}
	return bound, func() { stop(); cancel(context.Canceled); unbindSeed(); unbind() }
}

// Instances lists the components of all rigs, those of the seed by the names that
// scenarios give them.
func (l *Rig) Instances() []cluster.Instance {
	all := l.Cluster.Instances()
	if l.seed == nil {
		return all
	}
	for _, i := range l.seed.Instances() {
		if i.Name != spec.Watchdog {
			i.Name = spec.Seed + "/" + i.Name
		}
		all = append(all, i)
	}
	return all
}

// SeedKubeconfig is the path of a kubeconfig for an administrator of the seed.
// It is empty if there is none.
func (l *Rig) SeedKubeconfig() string {
	if l.seed == nil {
		return ""
	}
	return l.seed.Kubeconfig()
}

// Close ends everything, what depends on something else first.
func (l *Rig) Close() error {
	var failures []error
	if l.garden != nil {
		failures = append(failures, l.garden.Close())
	}
	if l.fleet != nil {
		failures = append(failures, l.fleet.Close())
	}
	for _, c := range []*cluster.Cluster{l.seed, l.Cluster} {
		if c != nil {
			failures = append(failures, c.Close())
		}
	}
	return errors.Join(failures...)
}

// where returns the rig that a component is of, and its name there.
func (l *Rig) where(component string) (*cluster.Cluster, string) {
	if ofSeed, is := strings.CutPrefix(component, spec.Seed+"/"); is {
		return l.seed, ofSeed
	}
	if component == spec.Watchdog {
		return l.seed, component
	}
	return l.Cluster, component
}
