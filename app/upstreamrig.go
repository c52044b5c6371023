package app

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
	"github.com/skewrig/skewrig/upstream"
)

// specsRig is one of the rigs of a run of specs.
type specsRig struct {
	Upstream
	kubelet release.Version
}

// specsNode is the node of the rig.
const specsNode = "node-a"

// name is what a report calls the rig.
func (r specsRig) name() upstream.Rig {
	return upstream.Rig{
		ControlPlane: r.Sources.Of(string(build.APIServer), r.Release),
		Kubelet:      r.Sources.Of(string(build.Kubelet), r.kubelet),
		Runtime:      r.runtime(),
	}
}

// runtime is the container runtime of the node, and empty for the simulated one.
func (r specsRig) runtime() string {
	if r.Runtime == record.Simulated {
		return ""
	}
	return r.Runtime
}

// args are the arguments of skewrig that choose this rig among those of the release.
func (r specsRig) args() (args []string) {
	if r.kubelet != r.Release {
		args = append(args, "--kubelet", string(r.kubelet))
	}
	if runtime := r.runtime(); runtime != "" {
		args = append(args, "--runtime", runtime)
	}
	return args
}

// topology is the rig with the gates that specs ask for, as far as its releases have them.
func (r specsRig) topology(gates []string) record.Topology {
	name := r.name()
	topology := record.Topology{
		Version: r.Release, Gates: settable(gates, name.ControlPlane), ControllerManager: true, Scheduler: true,
		Nodes: []record.Node{{Name: specsNode, Version: r.kubelet, Gates: settable(gates, name.Kubelet), Runtime: name.Runtime}},
	}
	return Catalog{Releases: release.Releases{Sources: r.Sources}}.onSources(plan.Cell{Topology: topology}).Topology
}

// settable are the gates that a release has, and that are off unless they are turned on, with
// those that must be on for them. Of a release whose gates are not known they are all: it says
// itself which it does not have.
func settable(gates []string, v release.Version) release.Gates {
	of := release.Effective{Version: v}
	on := make(release.Gates)
	table, known, err := release.Table(of)
	for _, name := range gates {
		at := slices.IndexFunc(table, func(g release.Gate) bool { return g.Name == name })
		if err != nil || !known || at >= 0 && !table[at].Default && !table[at].Locked {
			on[name] = true
		}
	}
	return release.WithDependents(of, on)
}

// lacks is a gate that a spec asks for and the kubelet does not have.
func (r specsRig) lacks(s upstream.Spec) (gate string, is bool) {
	for _, name := range s.Gates {
		if release.CheckGate(release.Effective{Version: r.name().Kubelet}, name) != nil {
			return name, true
		}
	}
	return "", false
}

// expectation is what is expected of a spec, and nil if it is to pass.
func (r specsRig) expectation(s upstream.Spec, all upstream.Expectations) *upstream.Expectation {
	if gate, is := r.lacks(s); is {
		return &upstream.Expectation{NotRun: true, Reason: fmt.Sprintf("the kubelet, %s, has no feature gate %s", r.name().Kubelet, gate)}
	}
	return all.Of(s, r.name())
}

// start starts the rig. Its logs are beside the report.
func (r specsRig) start(ctx context.Context, builder *build.Builder, gates []string) (*rig.Rig, error) {
	library, err := images.Library(ctx, nil, builder.Binary)
	if err != nil {
		return nil, Failed(err)
	}
	topology, name := r.topology(gates), r.name()
	config := rig.ClusterConfig(topology, library, nil)
	config = rig.WithContainers(ctx, config, images.NewContainers(images.Played{}, builder.Binary, plan.Cell{Topology: topology}))
	config.Binary, config.Purpose, config.ReportDir = builder.Binary, upstream.Area, r.Place.Dir
	config.LogDir = filepath.Join(engine.SharedDir(r.Place.Dir, "kubelet:"+string(name.Kubelet)), "logs")
	began := time.Now()
	rig, err := rig.Start(ctx, topology, config)
	if err != nil {
		return nil, Failed(err)
	}
	set := "default gates"
	if len(topology.Gates) > 0 {
		set = topology.Gates.String()
	}
	r.Note(fmt.Sprintf("rig: control plane %s, kubelet %s, %s, up after %.1fs", name.ControlPlane, name.Kubelet, set, time.Since(began).Seconds()))
	return rig, nil
}
