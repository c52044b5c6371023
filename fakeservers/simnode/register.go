package simnode

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

const (
	// attendEvery is how often the node says that it is well.
	attendEvery = 10 * time.Second
	// leaseSeconds is how long a lease lasts: a kubelet's default.
	leaseSeconds = int32(40)
)

// attend registers the node, as soon as the API server lets it, and keeps its
// status and its lease up.
func (n *Node) attend(ctx context.Context) {
	for wait := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if wait = attendEvery; n.sayWell(ctx) != nil {
			wait = firstWait
		}
	}
}

func (n *Node) sayWell(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	node, err := n.reportNode(ctx)
	if err != nil {
		return err
	}
	n.tell(ctx, func() { n.uid = node.UID })
	return n.renewLease(ctx, node)
}

// reportNode makes the Node, or writes its status if it is there.
func (n *Node) reportNode(ctx context.Context) (node *corev1.Node, err error) {
	nodes := n.client.CoreV1().Nodes()
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		node, err = nodes.Get(ctx, n.cfg.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			node, err = nodes.Create(ctx, n.object(), metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		before := node.Status.Conditions
		node.Status = n.object().Status
		for i := range node.Status.Conditions {
			keepTransition(&node.Status.Conditions[i], before)
		}
		node, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
	return node, err
}

// keepTransition leaves the time of the last transition as it was, if there was
// none.
func keepTransition(c *corev1.NodeCondition, before []corev1.NodeCondition) {
	for _, b := range before {
		if b.Type == c.Type && b.Status == c.Status {
			c.LastTransitionTime = b.LastTransitionTime
		}
	}
}

// object is the Node as it is registered, ready from the start.
func (n *Node) object() *corev1.Node {
	size := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	now := metav1.Now()
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: "simulated", LastHeartbeatTime: now, LastTransitionTime: now}
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.cfg.Name, Labels: map[string]string{corev1.LabelHostname: n.cfg.Name, corev1.LabelOSStable: "linux"}},
		Status: corev1.NodeStatus{
			Capacity: size, Allocatable: size,
			Conditions: []corev1.NodeCondition{
				condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory"),
				condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure"),
				condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID"),
				condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady"),
			},
			NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "simulated", OperatingSystem: "linux"},
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: n.cfg.Address.String()}, {Type: corev1.NodeHostName, Address: n.cfg.Name},
			},
		},
	}
}

// renewLease renews the node's lease, or makes it.
func (n *Node) renewLease(ctx context.Context, node *corev1.Node) error {
	leases := n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	seconds, now := leaseSeconds, metav1.NowMicro()
	spec := coordinationv1.LeaseSpec{HolderIdentity: &n.cfg.Name, LeaseDurationSeconds: &seconds, RenewTime: &now}
	lease, err := leases.Get(ctx, n.cfg.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{
				Name: n.cfg.Name, Namespace: corev1.NamespaceNodeLease,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
			},
			Spec: spec,
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	lease.Spec = spec
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}
