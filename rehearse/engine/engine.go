// Package engine runs rehearsals on real components: it stores objects on two control planes, changes one of them to another
// release and back, and does the same to the other one, which stays. Package rehearse judges what was seen.
package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
)

// Config says what to rehearse.
type Config struct {
	From, To release.Version
	// Nodes is the release of the nodes before the upgrade, and after the way back. If unset, it is From.
	Nodes release.Version
	// Gates are those of each release that are set on all components. If unset, all have their defaults.
	Gates map[release.Version]release.Gates
	// Objects are stored in this order.
	Objects []manifest.Object
	// Operators act on the objects. If unset, there are none.
	Operators []rehearse.Operator
	// Cluster is the rig of a topology, whose containers do what their pods expect.
	Cluster func(record.Topology, record.Recorder, PodReader) (cluster.Config, error)
	// Binary finds the executable of a component. Builder.Binary does.
	Binary func(context.Context, build.Target) (build.Binary, error)
	// Subject and Twin are where the sides leave what they do.
	Subject, Twin Output
	// Until is the last stage that is run. If unset, all are.
	Until rehearse.StageName
	// Report is called when a stage begins. If unset, it is not.
	Report func(rehearse.Stage)
}

// PodReader reads a pod.
type PodReader func(ctx context.Context, namespace, name string) (*corev1.Pod, error)

// Output is where a side leaves what it does.
type Output struct {
	// History takes the record. It ends with the run.
	History *record.History
	// LogDir takes the components' logs.
	LogDir string
}

// Run rehearses. What a component ends by itself with is something that is seen; an error is one of the rehearsal.
func (cfg Config) Run(ctx context.Context) (seen rehearse.Seen, storing rehearse.Storing, err error) {
	seen.From, seen.To, seen.Nodes, seen.Until, seen.Operators = cfg.From, cfg.To, cfg.Nodes, cfg.Until, cfg.Operators
	var subject, twin *side
	group, starting := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		subject, err = cfg.start(starting, "upgraded", cfg.To, cfg.To, cfg.Subject)
		return err
	})
	group.Go(func() (err error) {
		twin, err = cfg.start(starting, "stays", cfg.From, cfg.nodes(), cfg.Twin)
		return err
	})
	if err := group.Wait(); err != nil {
		return seen, storing, errors.Join(err, subject.close(), twin.close())
	}
	err = cfg.stages(ctx, subject, twin)
	storing = subject.stored
	seen.Items = subject.items
	seen.Subject, seen.Twin = subject.side, twin.side
	err = errors.Join(err, subject.end(&seen.Subject), twin.end(&seen.Twin))
	return seen, storing, err
}

// stages runs all stages on both sides, each at the same time.
func (cfg Config) stages(ctx context.Context, sides ...*side) error {
	for _, stage := range rehearse.Stages {
		if cfg.Report != nil {
			cfg.Report(stage)
		}
		group, ctx := errgroup.WithContext(ctx)
		for _, s := range sides {
			group.Go(func() error { return s.run(ctx, stage) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		if stage.Name == cfg.Until || sides[0].exited || sides[1].exited {
			return nil
		}
	}
	return nil
}

// The components of a side. Controllers ask the API server b, and clients and nodes ask a.
const (
	serverA   = record.APIServer + "/a"
	serverB   = record.APIServer + "/b"
	manager   = record.ControllerManager + "/a"
	scheduler = record.Scheduler + "/a"
)

// nodeNames are the names of the nodes.
var nodeNames = []string{"node-a", "node-b"}

// machine is what a node has. There is room for all that people run, which does nothing here.
var machine = cluster.Machine{Cores: 256, Memory: 2 << 40, Storage: 16 << 40}

// nodes returns the release of the nodes before the upgrade.
func (cfg Config) nodes() release.Version { return cmp.Or(cfg.Nodes, cfg.From) }

// topology is a control plane with two API servers, and nodes.
func (cfg Config) topology(observed []string) record.Topology {
	fast := record.Settings{Flags: map[string]string{"kube-api-qps": "1000", "kube-api-burst": "2000"}}
	gates := cfg.Gates[cfg.From]
	t := record.Topology{Version: cfg.From, Gates: gates, ControllerManager: true, Scheduler: true, Observed: observed}
	t.Members = []record.Component{
		{Name: serverA, Version: cfg.From, Gates: gates}, {Name: serverB, Version: cfg.From, Gates: gates},
		{Name: manager, Version: cfg.From, Gates: gates, Via: []string{"b"}, Settings: fast},
		{Name: scheduler, Version: cfg.From, Gates: gates, Via: []string{"b"}},
	}
	t.Links, t.Inspected = []record.Link{{From: manager, To: record.APIServer}}, []string{manager}
	for _, name := range nodeNames {
		t.Nodes = append(t.Nodes, record.Node{Name: name, Version: cfg.nodes(), Gates: cfg.Gates[cfg.nodes()]})
	}
	return t
}

// often is how often something is looked at that is waited for.
const often = time.Second / 4
