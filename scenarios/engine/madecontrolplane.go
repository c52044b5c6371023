package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// startComponent starts a component of the control plane that does not run, perhaps as something else than before.
func (m *madeCluster) startComponent(ctx context.Context, r *run, to action.Restart) error {
	at := slices.IndexFunc(m.control, func(c record.Component) bool { return c.Name == to.Component })
	if at < 0 {
		return fmt.Errorf("the cell has no %s", to.Component)
	}
	is := m.control[at]
	is.Version = cmp.Or(to.Version, is.Version)
	is.Gates, is.Settings = is.Gates.With(to.Gates, to.Unset...), is.With(to.Settings)
	began := time.Now()
	if err := m.start(ctx, is); err != nil {
		return err
	}
	ready := time.Since(began).Seconds()
	m.control[at] = is
	now, err := m.read(ctx, is)
	if err != nil {
		return err
	}
	if on := fit.OfMade(record.Topology{Members: []record.Component{is}}, now); len(on.Reasons) > 0 {
		return fmt.Errorf("%s was restarted: %s", is.Name, on.Reason())
	}
	started := componentOf(is, now)
	started.ReadySeconds = ready
	r.history.Append("cluster", is.Name, started)
	if record.Program(is.Name) == record.APIServer {
		if err := r.watching.goOn(ctx); err != nil {
			return err
		}
		return m.awaitWatches(ctx)
	}
	return nil
}

// start starts a component of the control plane that does not run.
func (m *madeCluster) start(ctx context.Context, is record.Component) error {
	flags := make(map[string]string)
	maps.Copy(flags, is.Flags)
	for flag, v := range map[string]release.Version{"emulated-version": is.EmulatedVersion, "min-compatibility-version": is.MinCompatibilityVersion} {
		if v != "" {
			flags[flag] = strings.TrimPrefix(v.MajorMinor(), "v")
		}
	}
	return m.cluster.StartComponent(ctx, record.Program(is.Name), kind.Component{Release: is.Version, Image: m.kind.Images[is.Version], Gates: is.Gates, Flags: flags})
}

// load has the cluster have what it needs for the steps of a cell: with the images of all releases there, a component is not
// away for longer than it takes to start it.
func (m *madeCluster) load(ctx context.Context, steps []plan.Step) error {
	for _, step := range steps {
		for _, to := range step.Action.Facts().Restarts {
			if ofKubelet(to.Component) || to.Version == "" {
				continue
			}
			if err := m.cluster.Load(ctx, record.Program(to.Component), kind.Component{Release: to.Version, Image: m.kind.Images[to.Version]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// differing has those components of the control plane that are to be otherwise than kubeadm has made them started so.
func (m *madeCluster) differing(ctx context.Context) error {
	for _, c := range m.control {
		if c.Version == m.made.Version && maps.Equal(c.Gates, m.made.Gates) && c.IsZero() {
			continue
		}
		if _, err := m.cluster.StopComponent(ctx, record.Program(c.Name)); err != nil {
			return err
		}
		if err := m.start(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// without ends the components of the control plane that a cell wants to be absent. Its namespaces have what they need of
// those.
func (m *madeCluster) without(ctx context.Context, absent, namespaces []string) error {
	if len(absent) > 0 {
		if err := m.api.AwaitNamespaces(ctx, namespaces); err != nil {
			return err
		}
	}
	for _, program := range absent {
		if _, err := m.cluster.StopComponent(ctx, program); err != nil {
			return err
		}
	}
	return nil
}
