package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/client-go/util/retry"
)

// uninitializedTaint is what a kubelet with an external cloud provider puts on
// its node until the provider has seen to it (k8s.io/cloud-provider/api).
const uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized"

// initializeNode does for a new node what a cloud provider does: it waits
// until the kubelet has registered it, reports its address, and removes the
// taint of a node that waits for that.
func initializeNode(ctx context.Context, client kubernetes.Interface, name, address string) error {
	var initialized bool
	err := awaitNode(ctx, client, name, func(node *corev1.Node) bool {
		initialized = slices.ContainsFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool { return a.Address == address })
		return true
	})
	if err != nil {
		return fmt.Errorf("waiting for the kubelet to register node %s: %w", name, err)
	}
	if initialized {
		return nil // a kubelet that comes back
	}
	err = updateNode(ctx, client, name, func(node *corev1.Node) {
		node.Status.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: address},
			{Type: corev1.NodeHostName, Address: name},
		}
	}, client.CoreV1().Nodes().UpdateStatus)
	if err != nil {
		return fmt.Errorf("reporting the address of node %s: %w", name, err)
	}
	err = updateNode(ctx, client, name, func(node *corev1.Node) {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == uninitializedTaint })
	}, client.CoreV1().Nodes().Update)
	if err != nil {
		return fmt.Errorf("removing the taint of the uninitialized node %s: %w", name, err)
	}
	return nil
}

type updateFunc func(context.Context, *corev1.Node, metav1.UpdateOptions) (*corev1.Node, error)

// updateNode changes a node, and again if another client changed it meanwhile:
// kubelet and controllers write to it all the time.
func updateNode(ctx context.Context, client kubernetes.Interface, name string, change func(*corev1.Node), update updateFunc) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(node)
		_, err = update(ctx, node, metav1.UpdateOptions{})
		return err
	})
}

// awaitNode returns once the node is there and satisfies the condition. An API server
// that is busy ends watches: then it watches again.
func awaitNode(ctx context.Context, client kubernetes.Interface, name string, ok func(*corev1.Node) bool) error {
	for {
		if err := watchNode(ctx, client, name, ok); !errors.Is(err, watchtools.ErrWatchClosed) {
			return err
		}
	}
}

// watchNode is awaitNode until the watch ends.
func watchNode(ctx context.Context, client kubernetes.Interface, name string, ok func(*corev1.Node) bool) error {
	byName := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()}
	w, err := client.CoreV1().Nodes().Watch(ctx, byName) // without a resource version: starts with what is there
	if err == nil {
		_, err = watchtools.UntilWithoutRetry(ctx, w, func(event watch.Event) (bool, error) {
			node, isNode := event.Object.(*corev1.Node)
			return isNode && event.Type != watch.Deleted && ok(node), nil
		})
	}
	if ctx.Err() != nil { // such as that the kubelet has ended
		return context.Cause(ctx)
	}
	return err
}
