package lease

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// watch notifies nodes that another client has reported as not ready, as a
// kubelet would notice whenever it reads its own status.
func (f *Fleet) watch(ctx context.Context) error {
	factory := informers.NewSharedInformerFactoryWithOptions(f.client, 0, informers.WithTransform(essence))
	informer := factory.Core().V1().Nodes().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    f.look,
		UpdateFunc: func(_, now any) { f.look(now) },
	})
	if err != nil {
		return fmt.Errorf("watching the simulated nodes: %w", err)
	}
	informer.RunWithContext(ctx)
	return nil
}

// essence is all that is kept of a node.
func essence(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, ResourceVersion: node.ResourceVersion},
		Status:     corev1.NodeStatus{Conditions: slices.Clone(node.Status.Conditions)},
	}, nil
}

func (f *Fleet) look(object any) {
	seen, ok := object.(*corev1.Node)
	if !ok || f.byName[seen.Name] == nil {
		return
	}
	ready := slices.ContainsFunc(seen.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	n := f.byName[seen.Name]
	n.mu.Lock()
	defer n.mu.Unlock()
	n.disputed = !ready
}
