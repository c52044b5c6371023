package kind

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/skewrig/skewrig/fakeservers/container/collect"
	"github.com/skewrig/skewrig/harness/existing"
	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/kind"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/fit"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
	"github.com/skewrig/skewrig/scenarios/provider/cluster"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// kindCluster is a cluster that was created for cells.
type kindCluster struct {
	provider *Provider
	failed   error // why it could not be created
	kind     *kind.Cluster
	api      *existing.Cluster
	facts    facts.Cluster // that were read of it when it was created
	router   *provider.Router
	numbers  cluster.Numbers
	kubelets map[string]release.Version // what they are now, by their nodes
	watched  map[string]float64         // the watches that the API server served when it was stopped last

	collectors map[string]*collect.Collector // of what the containers of nodes record

	mu       sync.Mutex
	sessions map[*session]bool
}

var _ provider.Provider = (*kindCluster)(nil)

// Unfit implements provider.Provider.
func (c *kindCluster) Unfit(cell plan.Cell) string {
	if c.failed != nil {
		return ""
	}
	return cluster.Unfit(fit.OfMade(cell.Topology, c.facts))
}

// Components implements provider.Provider.
func (c *kindCluster) Components() []reports.Component { return cluster.Components(c.facts) }

// Start implements provider.Provider.
func (c *kindCluster) Start(ctx context.Context, t provider.Tenant) (provider.Session, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	s := &session{cluster: c, tenant: t}
	terms := cluster.Terms{
		Cluster: c.api, Facts: c.facts, Fit: fit.OfMade(t.Cell.Topology, c.facts), Numbers: &c.numbers, Own: true, Stays: fit.Alone(t.Cell),
		Join: func(opened *cluster.Session) (leave func()) {
			s.Session, s.lose = opened, opened.Lose
			return c.join(s)
		},
		Prepare: func(ctx context.Context) error { return c.without(ctx, fit.Absent(t.Cell), s.Namespaces()) },
	}
	if _, err := cluster.Open(ctx, t, terms); err != nil {
		return nil, err
	}
	return s, nil
}

// join has a session get what happens in the cluster.
func (c *kindCluster) join(s *session) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[s] = true
	leaveRouter := c.router.Join(s.Names().Suffix, s.tenant.History, nil)
	return func() {
		leaveRouter()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.sessions, s)
	}
}

// ended tells all sessions that a component has ended by itself.
func (c *kindCluster) ended(component string, end kind.End) {
	c.mu.Lock()
	all := slices.Collect(maps.Keys(c.sessions))
	c.mu.Unlock()
	for _, s := range all {
		s.ended(component, end)
	}
}

// collect begins to collect what the containers of nodes record.
func (c *kindCluster) collect(nodes []kind.Node) error {
	c.collectors = make(map[string]*collect.Collector)
	for _, n := range nodes {
		collector, err := collect.Listen(collect.Config{Dir: c.kind.Recorded(n.Name), Recorder: c.router, Path: func(_ context.Context, id string) (string, error) {
			path, known := c.kind.Path(n.Name, id)
			if !known {
				return "", errors.New("no kubelet made it")
			}
			return path, nil
		}})
		if err != nil {
			return err
		}
		c.collectors[n.Name] = collector
	}
	return nil
}

// close deletes the cluster, as far as it was created.
func (c *kindCluster) close() error {
	if c.kind == nil {
		return nil
	}
	err := c.kind.Close()
	for _, name := range slices.Sorted(maps.Keys(c.collectors)) {
		err = errors.Join(err, c.collectors[name].Close())
	}
	return err
}

// read reads what the cluster is, and which of the components of its control plane are.
func (c *kindCluster) read(ctx context.Context, controllers ...record.Component) (facts.Cluster, error) {
	now, err := c.api.Read(ctx, existing.Wanted{ServerGates: true, NodeGates: true, Unusable: true})
	if err != nil {
		return now, err
	}
	for _, controller := range controllers {
		program := record.Program(controller.Name)
		if program == record.APIServer {
			continue
		}
		metrics, err := c.kind.Ask(ctx, program, "/metrics")
		if err != nil {
			return now, fmt.Errorf("reading the metrics of %s: %w", controller.Name, err)
		}
		is, err := existing.ComponentOf(program, metrics)
		if err != nil {
			return now, err
		}
		now.Controllers = append(now.Controllers, is)
	}
	return now, nil
}

// without stops the components of the control plane that a cell wants to be absent. Its namespaces have what they need of
// those.
func (c *kindCluster) without(ctx context.Context, absent, namespaces []string) error {
	if len(absent) > 0 {
		if err := c.api.AwaitNamespaces(ctx, namespaces); err != nil {
			return err
		}
	}
	for _, program := range absent {
		if _, err := c.kind.StopComponent(ctx, program); err != nil {
			return err
		}
	}
	return nil
}

func isKubelet(component string) bool { return strings.HasPrefix(component, spec.KubeletPrefix) }
