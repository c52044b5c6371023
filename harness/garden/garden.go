// Package garden puts a rig into a Gardener landscape: the rig is the shoot, a
// second one is the seed on which its control plane would run, with
// dependency-watchdog looking after it. What else there would be on a seed is
// played: Deployments are scaled as if there were nodes, and when that of
// kube-controller-manager is, the shoot's real one stops and starts.
package garden

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/record"
)

// Namespace is the shoot's on the seed, and the name of its Cluster.
const Namespace = "shoot"

// Config says what garden to make of two rigs.
type Config struct {
	// Shoot is the rig that is looked after. It has dependency-watchdog among its
	// clients.
	Shoot *cluster.Cluster
	// Seed is the rig that dependency-watchdog is part of.
	Seed *cluster.Cluster
	// Garden is what there is on the seed.
	Garden record.Garden
	// Nodes are the shoot's nodes that have a machine.
	Nodes []string
}

// Garden is a seed with a shoot.
type Garden struct {
	cfg    Config
	work   errgroup.Group
	ctx    context.Context //nolint:containedctx // the garden's own lifetime, handed out by Context
	cancel context.CancelCauseFunc
}

// Open prepares the seed and starts dependency-watchdog, if there is one. It
// returns when that is up; its prober starts when it has seen the Cluster.
func Open(ctx context.Context, cfg Config) (_ *Garden, err error) {
	g := &Garden{cfg: cfg}
	g.ctx, g.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("preparing the seed: %w", err), g.Close())
		}
	}()
	client, err := dynamic.NewForConfig(cfg.Seed.RESTConfig())
	if err != nil {
		return nil, err
	}
	if err := define(ctx, client); err != nil {
		return nil, err
	}
	if err := cfg.Seed.EnsureNamespace(ctx, Namespace); err != nil {
		return nil, err
	}
	if err := g.createObjects(ctx, client); err != nil {
		return nil, err
	}
	if err := g.followDeployments(ctx); err != nil {
		return nil, err
	}
	if cfg.Garden.Watchdog == "" {
		return g, nil
	}
	return g, cfg.Seed.Start(ctx, cluster.DependencyWatchdog, cluster.Change{})
}

// createObjects makes the objects of the shoot on the seed.
func (g *Garden) createObjects(ctx context.Context, client dynamic.Interface) error {
	if err := g.access(ctx); err != nil {
		return err
	}
	for _, d := range g.cfg.Garden.Dependents {
		if _, err := g.cfg.Seed.Client().AppsV1().Deployments(Namespace).Create(ctx, deployment(d), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	group, grouped := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, node := range g.cfg.Nodes {
		group.Go(func() error {
			_, err := client.Resource(machines).Namespace(Namespace).Create(grouped, machine(node), metav1.CreateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	shoot, err := Cluster(g.cfg.Garden.Shoot)
	if err != nil {
		return err
	}
	_, err = client.Resource(clusters).Create(ctx, &unstructured.Unstructured{Object: shoot}, metav1.CreateOptions{})
	return err
}

// atOnce is how many machines are made at the same time.
const atOnce = 32

// access makes the secret that says how to connect to the shoot.
func (g *Garden) access(ctx context.Context) error {
	path, err := g.cfg.Shoot.ClientKubeconfig(cluster.DependencyWatchdog)
	if err != nil {
		return err
	}
	kubeconfig, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, err = g.cfg.Seed.Client().CoreV1().Secrets(Namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: g.cfg.Garden.Prober.KubeConfigSecretName, Namespace: Namespace},
		Data:       map[string][]byte{"kubeconfig": kubeconfig},
	}, metav1.CreateOptions{})
	return err
}

// Context ends with the reason when the garden can't go on, or when it is closed.
func (g *Garden) Context() context.Context { return g.ctx }

var errClosed = errors.New("the garden was closed")

// Close ends what is played. The rigs are their owner's to close.
func (g *Garden) Close() error {
	g.cancel(errClosed)
	return g.work.Wait()
}
