package garden

import (
	"context"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/watched"
	"github.com/skewrig/skewrig/record"
)

// controllerManager is the dependent that is real: the shoot's own, if it has one.
const controllerManager = "kube-controller-manager"

// followDeployments plays the Deployment controller and the kubelets of the seed: a
// Deployment that was scaled has its new number of pods, all of them ready.
func (g *Garden) followDeployments(ctx context.Context) error {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	source := &watched.Source{Client: watched.ClientOf(g.cfg.Seed.Client().AppsV1().Deployments(Namespace))}
	var running sync.WaitGroup
	synced := watched.Follow(g.ctx, &running, source, func(change string, _, now *appsv1.Deployment) {
		if change != record.Deleted {
			queue.Add(now.Name)
		}
	})
	context.AfterFunc(g.ctx, queue.ShutDown)
	g.work.Go(func() error {
		g.serve(queue)
		running.Wait()
		return nil
	})
	return watched.Await(ctx, synced)
}

func (g *Garden) serve(queue workqueue.TypedRateLimitingInterface[string]) {
	for {
		name, over := queue.Get()
		if over {
			return
		}
		if err := g.settle(g.ctx, name); err != nil && g.ctx.Err() == nil {
			if !apierrors.IsNotFound(err) {
				queue.AddRateLimited(name) // the seed's API server may be away
			}
		} else {
			queue.Forget(name)
		}
		queue.Done(name)
	}
}

// settle gives a Deployment the pods that it wants.
func (g *Garden) settle(ctx context.Context, name string) error {
	deployments := g.cfg.Seed.Client().AppsV1().Deployments(Namespace)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		d, err := deployments.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		want := *d.Spec.Replicas
		if d.Status.ReadyReplicas == want && d.Status.ObservedGeneration == d.Generation {
			return nil
		}
		if name == controllerManager && g.isReal() {
			if err := g.run(ctx, want > 0); err != nil {
				g.cancel(fmt.Errorf("scaling the shoot's %s to %d: %w", controllerManager, want, err))
				return err
			}
		}
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: want, UpdatedReplicas: want, ReadyReplicas: want, AvailableReplicas: want,
		}
		_, err = deployments.UpdateStatus(ctx, d, metav1.UpdateOptions{})
		return err
	})
}

// isReal reports whether the shoot has a controller manager: a rig can do
// without, and then that is played like everything else.
func (g *Garden) isReal() bool {
	return slices.ContainsFunc(g.cfg.Shoot.Instances(), func(i cluster.Instance) bool { return i.Name == controllerManager })
}

// run has the shoot's controller manager run, or not.
func (g *Garden) run(ctx context.Context, wanted bool) error {
	running := g.cfg.Shoot.Running(controllerManager)
	switch {
	case wanted && !running:
		return g.cfg.Shoot.Start(ctx, controllerManager, cluster.Change{})
	case !wanted && running:
		ctx, cancel := context.WithTimeout(ctx, cluster.StopLimit)
		defer cancel()
		return g.cfg.Shoot.Stop(ctx, controllerManager)
	default:
		return nil
	}
}
