package kind

import (
	"context"
	"maps"
	"strings"

	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// start starts a component of the control plane that does not run.
func (c *kindCluster) start(ctx context.Context, to record.Component) error {
	flags := make(map[string]string)
	maps.Copy(flags, to.Flags)
	for flag, v := range map[string]release.Version{"emulated-version": to.EmulatedVersion, "min-compatibility-version": to.MinCompatibilityVersion} {
		if v != "" {
			flags[flag] = strings.TrimPrefix(v.MajorMinor(), "v")
		}
	}
	return c.kind.StartComponent(ctx, record.Program(to.Name), kind.Component{Release: to.Version, Image: c.provider.Images[to.Version], Gates: to.Gates, Flags: flags})
}

// load loads what the steps of a cell need: with the images of all releases there, a component is not away for longer than
// it takes to start it.
func (c *kindCluster) load(ctx context.Context, steps []plan.Step) error {
	for _, step := range steps {
		for _, to := range step.Action.Facts().Restarts {
			if isKubelet(to.Component) || to.Version == "" {
				continue
			}
			if err := c.kind.Load(ctx, record.Program(to.Component), kind.Component{Release: to.Version, Image: c.provider.Images[to.Version]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// restartDiffering restarts those components of a control plane that are to be otherwise than kubeadm has created them: all
// like the first API server.
func (c *kindCluster) restartDiffering(ctx context.Context, control []record.Component) error {
	for _, to := range control {
		if to.Version == control[0].Version && maps.Equal(to.Gates, control[0].Gates) && to.IsZero() {
			continue
		}
		if _, err := c.kind.StopComponent(ctx, record.Program(to.Name)); err != nil {
			return err
		}
		if err := c.start(ctx, to); err != nil {
			return err
		}
	}
	return nil
}
