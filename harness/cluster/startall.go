package cluster

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/harness/program"
)

// startAll starts etcd, then the API servers, and then everything that only needs those, at
// the same time.
func (c *Cluster) startAll(ctx context.Context) error {
	for _, comp := range c.withRole(program.Store) {
		if err := c.Start(ctx, comp.name, Change{}); err != nil {
			return err
		}
	}
	if err := c.startServers(ctx); err != nil {
		return err
	}
	group, grouped := errgroup.WithContext(ctx)
	for _, comp := range c.withRole(program.Controller) {
		group.Go(func() error { return c.Start(grouped, comp.name, Change{}) })
	}
	group.Go(func() error { return c.startKubelets(grouped) })
	group.Go(func() error { return c.EnsureNamespace(grouped, metav1.NamespaceDefault) })
	return group.Wait()
}

// startServers starts the API servers of the rig's own control plane. The first one shows the
// objects that are observed.
func (c *Cluster) startServers(ctx context.Context) error {
	servers := c.withRole(program.Server)
	if len(servers) == 0 {
		return nil // it is another rig's
	}
	group, grouped := errgroup.WithContext(ctx)
	for _, comp := range servers {
		group.Go(func() error { return c.start(grouped, comp, Change{}) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return c.observe(ctx, c.servers[0])
}

// kubeletsAtOnce is how many kubelets start at the same time, for each processor. When 100 start
// at once on 2 processors, they take half as much processor time again: the API server does
// not answer in time, and they ask again.
const kubeletsAtOnce = 10

func (c *Cluster) startKubelets(ctx context.Context) error {
	group, grouped := errgroup.WithContext(ctx)
	group.SetLimit(kubeletsAtOnce * runtime.NumCPU())
	for _, comp := range c.withRole(program.Agent) {
		group.Go(func() error { return c.Start(grouped, comp.name, Change{}) })
	}
	return group.Wait()
}

// withRole returns the components whose programs have a role, in the order in which they are defined.
func (c *Cluster) withRole(role program.Role) (all []*component) {
	for _, comp := range c.components {
		if program.HasRole(string(comp.kind), role) {
			all = append(all, comp)
		}
	}
	return all
}
