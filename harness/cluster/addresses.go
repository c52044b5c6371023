package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// uninitializedTaint is what a kubelet with an external cloud provider puts on
// its node until the provider has seen to it (k8s.io/cloud-provider/api).
const uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized"

// initializeNode does for a new node what a cloud provider does: it waits
// until the kubelet has registered it, reports its address, and removes the
// taint of a node that waits for that.
func initializeNode(ctx context.Context, client kubernetes.Interface, name, address string) error {
	node, err := awaitNode(ctx, client, name, func(*corev1.Node) bool { return true })
	if err != nil {
		return fmt.Errorf("waiting for the kubelet to register node %s: %w", name, err)
	}
	status := map[string]any{"status": map[string]any{"addresses": []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: address},
		{Type: corev1.NodeHostName, Address: name},
	}}}
	if err := patchNode(ctx, client, name, status, "status"); err != nil {
		return fmt.Errorf("reporting the address of node %s: %w", name, err)
	}
	tainted := slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == uninitializedTaint })
	if !tainted {
		return nil
	}
	spec := map[string]any{"spec": map[string]any{
		"taints": []map[string]string{{"$patch": "delete", "key": uninitializedTaint}},
	}}
	if err := patchNode(ctx, client, name, spec); err != nil {
		return fmt.Errorf("removing the taint of the uninitialized node %s: %w", name, err)
	}
	return nil
}

func patchNode(ctx context.Context, client kubernetes.Interface, name string, patch any, subresources ...string) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, subresources...)
	return err
}

// awaitNode returns the node once it is there and satisfies the condition.
func awaitNode(ctx context.Context, client kubernetes.Interface, name string, ok func(*corev1.Node) bool) (*corev1.Node, error) {
	byName := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()}
	w, err := client.CoreV1().Nodes().Watch(ctx, byName) // without a resource version: starts with what is there
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case event, open := <-w.ResultChan():
			if !open {
				return nil, fmt.Errorf("the API server closed the watch")
			}
			if node, isNode := event.Object.(*corev1.Node); isNode && event.Type != watch.Deleted && ok(node) {
				return node, nil
			}
		}
	}
}

func nodeReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
