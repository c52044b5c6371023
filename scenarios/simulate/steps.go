package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/garden"
	"github.com/skewrig/skewrig/harness/link"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
	"github.com/skewrig/skewrig/scenarios/model/world"
	"github.com/skewrig/skewrig/scenarios/spec"
)

var _ action.Rig = (*play)(nil)

// modelled are the abilities of steps that are tried. Some of them say that the models don't cover what they are asked for.
var modelled = []action.Ability{
	action.NeedsNothing, action.NeedsObjects, action.NeedsRestarts, action.NeedsStops, action.NeedsTimedStops,
	action.NeedsLinks, action.NeedsRuntimeConfig, action.NeedsClocks,
}

// errKind is for actions that the models know nothing of.
var errKind = fmt.Errorf("a step of this kind: %w", ErrNotModelled)

// Kill implements action.Rig: the models know one way to stop.
func (p *play) Kill(component string) error { return p.stop(component) }

// Stop implements action.Rig.
func (p *play) Stop(_ context.Context, s action.Stop) error {
	if s.Within != 0 {
		return fmt.Errorf("how long %s takes to end: %w", s.Component, ErrNotModelled)
	}
	return p.stop(s.Component)
}

func (p *play) stop(component string) error {
	if nodes, are := p.in(component); are {
		p.change(nodes, func(c *world.Condition) { c.Stopped = true })
		return nil
	}
	switch component {
	case spec.APIServer:
		p.world.SetAPIServer(false)
	case spec.Watchdog:
		p.world.StopWatchdog()
	default:
		return fmt.Errorf("stopping %s: %w", component, ErrNotModelled)
	}
	return nil
}

// Restart implements action.Rig.
func (p *play) Restart(_ context.Context, to action.Restart) error {
	if to.Version != "" {
		return fmt.Errorf("another release of %s: %w", to.Component, ErrNotModelled)
	}
	if !to.Stopped {
		if err := p.stop(to.Component); err != nil {
			return err
		}
	}
	if nodes, are := p.in(to.Component); are {
		p.change(nodes, func(c *world.Condition) { c.Stopped = false })
		return nil
	}
	switch to.Component {
	case spec.APIServer:
		p.world.SetAPIServer(true)
	case spec.Watchdog:
		p.world.StartWatchdog()
	}
	return nil
}

// faults are what is wrong with the links.
type faults struct {
	watchdog record.LinkFault // of the one to the shoot
}

// SetLink implements action.Rig.
func (p *play) SetLink(which spec.Link, f record.LinkFault) error {
	if nodes, are := p.in(which.From); are {
		if f.Delay != 0 {
			return fmt.Errorf("a slow link of simulated nodes: %w", ErrNotModelled)
		}
		p.change(nodes, func(c *world.Condition) { c.Dropped, c.Refused = f.Cut == record.CutDrop, f.Cut == record.CutReset })
		return nil
	}
	if which != (spec.Link{From: spec.Watchdog, To: spec.APIServer}) {
		return fmt.Errorf("the link %s: %w", which, ErrNotModelled)
	}
	l, err := p.linkOf(f)
	p.world.SetLink(l)
	p.faults.watchdog = f
	return err
}

// calls are what a watchdog asks for at a path.
var calls = map[string]watchdog.Call{
	"/version":      watchdog.GetVersion,
	"/api":          watchdog.Discover,
	"/apis":         watchdog.Discover,
	"/api/v1/nodes": watchdog.ListNodes,
	link.LeasesPath: watchdog.ListLeases,
}

// pathOf is the first path at which a watchdog asks for something.
func pathOf(c watchdog.Call) string {
	paths := slices.Sorted(maps.Keys(calls))
	return paths[slices.IndexFunc(paths, func(path string) bool { return calls[path] == c })]
}

// linkOf is what a fault makes of the watchdog's calls.
func (p *play) linkOf(f record.LinkFault) (watchdog.Link, error) {
	answer := watchdog.Failed
	switch known := (record.LinkFault{Cut: f.Cut, Path: f.Path, Status: f.Status, RetryAfter: f.RetryAfter}); {
	case f == record.LinkFault{}:
		return nil, nil
	case f != known:
		return nil, fmt.Errorf("the fault %s: %w", f, ErrNotModelled)
	case f.Cut == record.CutReset:
		return watchdog.Broken(watchdog.Failed), nil
	case f.Cut == record.CutDrop:
		return watchdog.Broken(watchdog.Lost), nil
	case f.Status == 429 && f.RetryAfter == 0:
		answer = watchdog.Throttled
	case f.Status == 0 || f.RetryAfter != 0:
		return nil, fmt.Errorf("the fault %s: %w", f, ErrNotModelled)
	}
	if f.Path == record.AnyPath {
		return watchdog.Broken(answer), nil
	}
	return watchdog.Link{calls[f.Path]: answer}, nil
}

// SetClock implements action.Rig.
func (p *play) SetClock(to action.Clock) error {
	nodes, are := p.in(to.Of)
	if !are {
		return fmt.Errorf("the clock of %s: %w", to.Of, ErrNotModelled)
	}
	now := p.world.Now()
	p.change(nodes, func(c *world.Condition) {
		if to.Step != 0 {
			c.Clock = c.Clock.Step(now, time.Duration(to.Step))
			return
		}
		c.Clock = to.From(now)
	})
	return nil
}

// Write implements action.Rig for patches of the objects of which the models know something.
func (p *play) Write(_ context.Context, w action.Write) (int, error) {
	if w.Verb != action.Patches || w.Judged || w.DryRun {
		return 0, errKind
	}
	return http.StatusOK, p.patch(w.Ref, w.Body)
}

func (p *play) patch(ref spec.ObjectRef, merge map[string]any) (err error) {
	switch {
	case ref.Cluster == garden.Seed && ref.Resource == "clusters":
		if p.cluster, err = garden.Merge(p.cluster, merge); err != nil {
			return err
		}
		cluster, err := watchdog.ClusterOf(p.cluster)
		p.world.SetCluster(cluster)
		return err
	case ref.Cluster == garden.Seed && ref.Resource == "deployments":
		return p.patchDeployment(ref.Name, merge)
	case ref.Cluster == garden.Seed && ref.Resource == "machines":
		phase, _ := at(merge, "status", "currentStatus", "phase").(string)
		return p.circumstance(strings.TrimPrefix(ref.Name, "machine-"), watchdog.NoMachine, phase == "Failed" || phase == "Terminating")
	case ref.Resource == "nodes":
		patch, err := json.Marshal(merge)
		if err != nil {
			return err
		}
		is := watchdog.Of(watchdog.NodeOf(ref.Name, patch), []watchdog.Machine{{Node: ref.Name}}, nil)
		return p.circumstance(ref.Name, is, is != 0)
	default:
		return fmt.Errorf("a change of %s: %w", ref, ErrNotModelled)
	}
}

// at returns what is at a path in an object, nil if there is nothing.
func at(object any, path ...string) any {
	for _, field := range path {
		fields, _ := object.(map[string]any)
		object = fields[field]
	}
	return object
}

func (p *play) circumstance(node string, is watchdog.Circumstances, so bool) error {
	i, err := strconv.Atoi(strings.TrimPrefix(node, "node-"))
	if err != nil || i >= len(p.nodes) || !so {
		return fmt.Errorf("this change of %s: %w", node, ErrNotModelled)
	}
	p.change([]int{i}, func(c *world.Condition) { c.Circumstances |= is })
	return nil
}

// patchDeployment scales a dependent, or writes an annotation, as a client does.
func (p *play) patchDeployment(name string, merge map[string]any) error {
	d := p.world.Deployment(name)
	if replicas, is := at(merge, "spec", "replicas").(int64); is {
		d.Replicas = int(replicas)
	}
	annotations, _ := at(merge, "metadata", "annotations").(map[string]any)
	for key, value := range annotations {
		text, is := value.(string)
		if !is {
			return fmt.Errorf("taking an annotation away: %w", ErrNotModelled)
		}
		d = watchdog.Change{Annotate: map[string]string{key: text}}.To(d)
	}
	p.world.SetDeployment(name, d)
	p.recordDeployment(name, d)
	return nil
}

// Settle implements action.Rig: models are at rest when nothing is scheduled, which is no evidence.
func (p *play) Settle(context.Context, action.Settle) error { return errKind }

// Delete implements action.Rig.
func (p *play) Delete(_ context.Context, d action.Delete) error {
	ref := d.Object
	if ref.Cluster != garden.Seed || ref.Resource != "clusters" {
		return fmt.Errorf("deleting %s: %w", ref, ErrNotModelled)
	}
	p.cluster = nil
	p.world.SetCluster(nil)
	return nil
}
