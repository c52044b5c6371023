package lease

import (
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/watchlist"

	"github.com/skewrig/skewrig/harness/watched"
	"github.com/skewrig/skewrig/record"
)

// watch notifies nodes that another client has reported as not ready, as a
// kubelet would notice whenever it reads its own status.
func (f *Fleet) watch(ctx context.Context) {
	var running sync.WaitGroup
	source := &watched.Source{
		Client: watched.ClientOf(f.client.CoreV1().Nodes()), Strip: strip, Lists: watchlist.DoesClientNotSupportWatchListSemantics(f.client),
	}
	watched.Follow(ctx, &running, source, func(change string, _, now *corev1.Node) {
		if change != record.Deleted {
			f.look(now)
		}
	})
	running.Wait()
}

// strip returns what look reads of a node.
func strip(object any) any {
	n, is := object.(*corev1.Node)
	if !is {
		return object
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, ResourceVersion: n.ResourceVersion},
		Status:     corev1.NodeStatus{Conditions: slices.Clone(n.Status.Conditions)},
	}
}

func (f *Fleet) look(seen *corev1.Node) {
	n := f.byName[seen.Name]
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.disputed = !watched.IsReady(seen)
}
