package cluster

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestANodeIsAwaitedAfterAWatchHasEnded: an API server that is busy ends a watch before it has
// shown anything.
func TestANodeIsAwaitedAfterAWatchHasEnded(t *testing.T) {
	client, watches := fake.NewClientset(), 0
	client.PrependWatchReactor("nodes", func(clienttesting.Action) (bool, watch.Interface, error) {
		watches++
		w := watch.NewFakeWithChanSize(1, false)
		if watches == 1 {
			w.Stop()
		} else {
			w.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}})
		}
		return true, w, nil
	})
	err := awaitNode(t.Context(), client, "node-a", func(*corev1.Node) bool { return true })
	if err != nil || watches != 2 {
		t.Errorf("after %d watches: %v", watches, err)
	}
}

// TestWhoWaitsForANodeHearsWhyItIsOver: also if that was so before the watch began.
func TestWhoWaitsForANodeHearsWhyItIsOver(t *testing.T) {
	t.Parallel()
	why := errors.New("its kubelet has ended")
	ctx, end := context.WithCancelCause(t.Context())
	client := fake.NewClientset()
	client.PrependWatchReactor("nodes", func(clienttesting.Action) (bool, watch.Interface, error) {
		end(why)
		return true, nil, ctx.Err()
	})
	if err := awaitNode(ctx, client, "node-a", func(*corev1.Node) bool { return true }); !errors.Is(err, why) {
		t.Errorf("it hears %v", err)
	}
}
