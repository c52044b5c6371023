package skewtest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// In what follows, a component is called as in scenarios: kube-apiserver,
// kube-controller-manager, kube-scheduler, kubelet/<node>, etcd, and one of several as
// kube-apiserver/<name>. The name of a node stands for its kubelet, "control-plane" for the
// API servers, controller managers and schedulers.

// Upgrade restarts a component, or the control-plane, as another release on the same
// data. It may be an older one. It returns when the component is ready, and a node says
// that it runs the release. What the release can't be, or can't have, is refused before
// anything is stopped. Containers go on while their kubelet is away.
func (r *Rig) Upgrade(ctx context.Context, component, version string) error {
	return r.Restart(ctx, component, Change{Version: version})
}

// SetGates restarts a component, or the control-plane, with gates set on top of those
// that it has, as Upgrade does.
func (r *Rig) SetGates(ctx context.Context, component string, gates Gates) error {
	return r.Restart(ctx, component, Change{Gates: gates})
}

// RestartKubelet restarts the kubelet of a node as it is.
func (r *Rig) RestartKubelet(ctx context.Context, node string) error {
	return r.Restart(ctx, spec.KubeletPrefix+node, Change{})
}

// Restart restarts a component, or the control-plane, as Upgrade does, with a change of
// release and gates at once. One that is stopped is started. A controller manager that
// has just started ends if it can't reach its API server: soon after another change, take
// the control-plane, which stops the controllers first.
func (r *Rig) Restart(ctx context.Context, component string, change Change) error {
	restarts, err := change.planned(r.builder.Releases(), r.rig.Instances(), component)
	if err != nil {
		return fmt.Errorf("restarting %s: %w", component, err)
	}
	for _, restart := range restarts { // before anything is stopped
		if err := r.have(ctx, restart); err != nil {
			return fmt.Errorf("restarting %s: %w", component, err)
		}
	}
	// Controllers don't survive an API server that goes away while they start.
	for _, restart := range slices.Backward(restarts) {
		if err := r.stop(ctx, restart.Component); err != nil {
			return fmt.Errorf("restarting %s: %w", component, err)
		}
	}
	for _, restart := range restarts {
		to := cluster.Change{Version: restart.Version, Gates: restart.Gates, Unset: restart.Unset}
		if err := r.rig.Start(ctx, restart.Component, to); err != nil {
			return fmt.Errorf("restarting %s: %w", component, err)
		}
	}
	return nil
}

// stop stops a component, and kills it if that takes too long.
func (r *Rig) stop(ctx context.Context, component string) error {
	limited, cancel := context.WithTimeout(ctx, cluster.StopLimit)
	defer cancel()
	return r.rig.Stop(limited, component)
}

// have sees to it that there is the binary that a restart needs.
func (r *Rig) have(ctx context.Context, restart action.Restart) error {
	if restart.Version == "" {
		return nil
	}
	target := plan.Target{Component: spec.Program(restart.Component), Version: restart.Version}
	return r.builder.provide(ctx, []build.Target{provider.Target(target)}, nil)
}

// Stop asks a component to end, and kills it if it has not when the context ends.
func (r *Rig) Stop(ctx context.Context, component string) error {
	return r.end(component, func(name string) error { return r.rig.Stop(ctx, name) })
}

// Kill ends a component without a warning, as a crash or a power cut would.
func (r *Rig) Kill(component string) error { return r.end(component, r.rig.Kill) }

// Reboot reboots a node: its kubelet and its containers end without a warning, its boot ID
// changes, and the kubelet is started again as it was. It returns when the kubelet is ready.
func (r *Rig) Reboot(ctx context.Context, node string) error { return r.rig.Reboot(ctx, node) }

// end ends all that a name stands for: what started last, first.
func (r *Rig) end(name string, do func(string) error) error {
	all := components(r.rig.Instances(), name)
	slices.Reverse(all)
	return each(all, do)
}

// Cut cuts the link between the API server and a component, or one of the Clients: what
// is sent is lost, as with a pulled cable, and neither end learns of it. Heal ends that.
// That of the control-plane are the links of its controllers.
func (r *Rig) Cut(from string) error { return r.SetLink(from, record.LinkFault{Cut: record.CutDrop}) }

// Heal ends the fault of a link.
func (r *Rig) Heal(from string) error { return r.SetLink(from, record.LinkFault{}) }

// SetLink gives the link between the API server and a component, or one of the Clients,
// a fault: it can cut connections, slow them down, and, for a client, answer requests
// instead of the API server, such as with 429.
func (r *Rig) SetLink(from string, fault record.LinkFault) error {
	if err := fault.Validate(); err != nil {
		return fmt.Errorf("the link from %s: %w", from, err)
	}
	return each(linked(r.rig.Instances(), from), func(name string) error { return r.rig.SetLink(name, fault) })
}

// Route leads a component, or one of the Clients, to other API servers: to one, or to several
// that get the connections in turn. Their names are those of the topology's Servers. What it
// has open to others is reset.
func (r *Rig) Route(from string, servers ...string) error {
	return each(linked(r.rig.Instances(), from), func(name string) error { return r.rig.Route(name, servers) })
}

// each does something with components, also after an error.
func each(components []string, do func(string) error) error {
	var failures []error
	for _, component := range components {
		failures = append(failures, do(component))
	}
	return errors.Join(failures...)
}
