package simnode

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// watchPods tells of the pods that the API server has for the node. It keeps
// trying for as long as the API server is away.
func (n *Node) watchPods(ctx context.Context) error {
	mine := fields.OneTermEqualSelector("spec.nodeName", n.cfg.Name).String()
	factory := informers.NewSharedInformerFactoryWithOptions(n.client, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = mine }),
		informers.WithTransform(withoutManagedFields))
	informer := factory.Core().V1().Pods().Informer()
	// An API server that is away is tried again: nobody has to read of each time.
	if err := informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}); err != nil {
		return fmt.Errorf("watching the pods of node %s: %w", n.cfg.Name, err)
	}
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(now any) { n.tellOf(ctx, now, n.take) },
		UpdateFunc: func(_, now any) { n.tellOf(ctx, now, n.take) },
		DeleteFunc: func(last any) { n.tellOf(ctx, last, n.lose) },
	})
	if err != nil {
		return fmt.Errorf("watching the pods of node %s: %w", n.cfg.Name, err)
	}
	n.work.Go(func() { informer.RunWithContext(ctx) })
	n.work.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
			n.tell(ctx, func() { n.heard[apiServer] = true })
		}
	})
	return nil
}

// withoutManagedFields drops who wrote which field, which is nothing that a node
// needs to know. A kubelet drops it, too.
func withoutManagedFields(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields = nil
	}
	return object, nil
}

// tellOf has run take note of what happened to a pod of this node.
func (n *Node) tellOf(ctx context.Context, object any, happened func(*corev1.Pod)) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok && pod.Spec.NodeName == n.cfg.Name {
		n.tell(ctx, func() { happened(pod) })
	}
}

// take takes a pod that is new, or a newer version of it.
func (n *Node) take(object *corev1.Pod) {
	_, mirror := object.Annotations[configMirrorKey]
	switch p := n.pods[object.UID]; {
	case mirror:
		n.mirrors[key(object)] = object
	case p != nil && !p.orphan:
		p.take(object)
	default:
		n.pods[object.UID] = &pod{object: object, status: *object.Status.DeepCopy()}
	}
}

// lose takes note that a pod was deleted.
func (n *Node) lose(object *corev1.Pod) {
	if m := n.mirrors[key(object)]; m != nil && m.UID == object.UID {
		delete(n.mirrors, key(object))
	}
	if p := n.pods[object.UID]; p != nil && !p.static {
		p.gone = true
	}
}
