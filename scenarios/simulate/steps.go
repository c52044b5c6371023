package simulate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/garden"
	"github.com/skewrig/skewrig/harness/link"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
	"github.com/skewrig/skewrig/scenarios/model/world"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// do takes a step.
func (p *play) do(step plan.Step) error {
	switch action := step.Action.(type) {
	case plan.Wait:
		return p.wait(step.Number, action)
	case plan.Checks:
		p.watch(step.Number, action)
		return nil
	case plan.Stop:
		return p.stop(action.Component)
	case plan.Restart:
		return p.restart(action)
	case plan.Fault:
		return p.fault(action)
	case plan.Clock:
		return p.setClock(action)
	case plan.Patch:
		return p.patch(action)
	case plan.Delete:
		return p.delete(action)
	default:
		return fmt.Errorf("a step of this kind: %w", ErrNotModelled)
	}
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

func (p *play) restart(action plan.Restart) error {
	if action.Version != "" {
		return fmt.Errorf("another release of %s: %w", action.Component, ErrNotModelled)
	}
	if !action.Stopped {
		if err := p.stop(action.Component); err != nil {
			return err
		}
	}
	if nodes, are := p.in(action.Component); are {
		p.change(nodes, func(c *world.Condition) { c.Stopped = false })
		return nil
	}
	switch action.Component {
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

func (p *play) fault(action plan.Fault) error {
	f := action.Fault
	if nodes, are := p.in(action.Link.From); are {
		if f.Delay != 0 {
			return fmt.Errorf("a slow link of simulated nodes: %w", ErrNotModelled)
		}
		p.change(nodes, func(c *world.Condition) { c.Dropped, c.Refused = f.Cut == record.CutDrop, f.Cut == record.CutReset })
		return nil
	}
	if action.Link != (spec.Link{From: spec.Watchdog, To: spec.APIServer}) {
		return fmt.Errorf("the link %s: %w", action.Link, ErrNotModelled)
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

// linkOf is what a fault makes of the watchdog's calls.
func (p *play) linkOf(f record.LinkFault) (watchdog.Link, error) {
	answer := watchdog.Failed
	switch {
	case f == record.LinkFault{}:
		return nil, nil
	case f.Cut == record.CutReset:
		return watchdog.Broken(watchdog.Failed), nil
	case f.Cut == record.CutDrop && f.AfterBytes == 0:
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

func (p *play) setClock(action plan.Clock) error {
	nodes, are := p.in(action.Of)
	if !are {
		return fmt.Errorf("the clock of %s: %w", action.Of, ErrNotModelled)
	}
	now := p.world.Now()
	p.change(nodes, func(c *world.Condition) {
		if action.Step != 0 {
			c.Clock = c.Clock.Step(now, time.Duration(action.Step))
			return
		}
		c.Clock = action.From(now)
	})
	return nil
}

// patch changes an object of which the models know something.
func (p *play) patch(action plan.Patch) (err error) {
	ref := action.Object
	switch {
	case ref.Cluster == garden.Seed && ref.Resource == "clusters":
		if p.cluster, err = garden.Merge(p.cluster, action.Merge); err != nil {
			return err
		}
		cluster, err := watchdog.ClusterOf(p.cluster)
		p.world.SetCluster(cluster)
		return err
	case ref.Cluster == garden.Seed && ref.Resource == "deployments":
		return p.patchDeployment(ref.Name, action.Merge)
	case ref.Cluster == garden.Seed && ref.Resource == "machines":
		phase, _ := at(action.Merge, "status", "currentStatus", "phase").(string)
		return p.circumstance(strings.TrimPrefix(ref.Name, "machine-"), watchdog.NoMachine, phase == "Failed" || phase == "Terminating")
	case ref.Resource == "nodes":
		_, notManaged := at(action.Merge, "metadata", "annotations", "node.machine.sapcloud.io/not-managed-by-mcm").(string)
		return p.circumstance(ref.Name, watchdog.NotManaged, notManaged)
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

// patchDeployment is somebody who scales a dependent, or writes an annotation.
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
	p.tellDeployment(name, d)
	return nil
}

func (p *play) delete(action plan.Delete) error {
	if ref := action.Object; ref.Cluster != garden.Seed || ref.Resource != "clusters" {
		return fmt.Errorf("deleting %s: %w", ref, ErrNotModelled)
	}
	p.cluster = nil
	p.world.SetCluster(nil)
	return nil
}
