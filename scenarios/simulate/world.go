package simulate

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/garden"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/model/heartbeat"
	"github.com/skewrig/skewrig/scenarios/model/nodelife"
	"github.com/skewrig/skewrig/scenarios/model/watchdog"
	"github.com/skewrig/skewrig/scenarios/model/world"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// begin creates the world of a topology, and records its objects.
func (p *play) begin() error {
	t := p.cell.Topology
	if t.LeaseNodes == nil || len(t.Nodes) > 0 {
		return fmt.Errorf("a rig with kubelets: %w", ErrNotModelled)
	}
	cfg := world.Config{On: p.happened, Seed: t.LeaseNodes.Seed, Controller: controller(t)}
	l := t.LeaseNodes
	cfg.Timing = heartbeat.Timing{
		Interval: time.Duration(l.Interval), Timeout: time.Duration(l.Timeout),
		Status: time.Duration(l.Status), Report: time.Duration(l.Report),
	}
	cfg.Clock = clock.Clock{Offset: time.Duration(l.Offset)}
	for _, z := range l.Zones {
		p.nodes = append(p.nodes, slices.Repeat([]string{z.Name}, z.Count)...)
	}
	cfg.Nodes = len(p.nodes)
	if t.Garden != nil {
		if err := p.addSeed(&cfg, *t.Garden); err != nil {
			return err
		}
	}
	p.began = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	cfg.Start = p.began
	p.world = world.New(cfg)
	p.recordController(true)
	for i := range p.nodes {
		p.recordNode(i)
	}
	if t.Garden != nil {
		for _, d := range t.Garden.Dependents {
			p.recordDeployment(d.Name, p.world.Deployment(d.Name))
		}
	}
	return nil
}

// controller is the node-lifecycle controller of a release. A rig without one has
// one that never loses patience.
func controller(t record.Topology) nodelife.Config {
	doubts, set := t.Gates["NodeControllerLeaseCircuitBreaker"]
	cfg := nodelife.Config{
		Period: time.Duration(t.NodeMonitor.Period), Grace: time.Duration(t.NodeMonitor.Grace),
		Trusting: t.Version.Minor() < firstDoubting || set && !doubts,
	}
	if !t.ControllerManager {
		cfg.Grace, cfg.Startup = math.MaxInt64/4, math.MaxInt64/4
	}
	return cfg
}

// firstDoubting is the first minor release whose controller looks at the live
// lease before it calls a node Unknown (NodeControllerLeaseCircuitBreaker).
const firstDoubting = 37

// stops is the time that a dependent takes to end once it is scaled down, as a controller manager does on SIGTERM.
const stops = 2 * moment

// addSeed adds the seed.
func (p *play) addSeed(cfg *world.Config, g record.Garden) (err error) {
	cfg.Release = string(g.Watchdog)
	cfg.Watchdog = watchdog.ConfigOf(g.Prober)
	cfg.Deployments = []world.Deployment{}
	for _, d := range g.Dependents {
		there := watchdog.Resource{Exists: true, Replicas: int(d.Replicas), Annotations: map[string]string{}}
		cfg.Deployments = append(cfg.Deployments, world.Deployment{Name: d.Name, Resource: there, Stops: stops})
	}
	if p.cluster, err = garden.Cluster(g.Shoot); err != nil {
		return err
	}
	cfg.Cluster, err = watchdog.ClusterOf(p.cluster)
	return err
}

// in returns the nodes that a component is: all simulated ones, or a zone's.
func (p *play) in(component string) (nodes []int, is bool) {
	zone, is := spec.Zone(component)
	for i, z := range p.nodes {
		if is && (zone == "" || z == zone) {
			nodes = append(nodes, i)
		}
	}
	return nodes, is
}

// change changes the condition of nodes.
func (p *play) change(nodes []int, to func(*world.Condition)) {
	for _, i := range nodes {
		c := p.world.Condition(i)
		to(&c)
		p.world.Set([]int{i}, c)
	}
}
