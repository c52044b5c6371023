package lease

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/skewrig/skewrig/record"
)

// node is a simulated node.
type node struct {
	fleet      *Fleet
	name, zone string
	uid        types.UID

	// Only whoever has the turn to renew uses these.
	rand    *rand.Rand
	renewal renewal
	version string // of the lease
	asking  action // in the round that is underway; none between rounds
	held    bool   // the request waits, as the link is slow
	asked   time.Time

	// Only whoever has the turn to report uses this.
	reported time.Time // really

	mu        sync.Mutex
	condition condition
	count     count
	renewed   time.Time // really
	disputed  bool      // another client says that the node is not ready
}

func (n *node) change(to func(*condition)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	to(&n.condition)
}

func (n *node) did() count {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.count
}

// within is a part of a duration, at random.
func (n *node) within(d time.Duration) time.Duration {
	return time.Duration(n.rand.Float64() * float64(d))
}

func (n *node) timeout() time.Duration { return time.Duration(n.fleet.cfg.Nodes.Timeout) }

// take takes the node's turn, and returns after which time the next one is.
func (n *node) take(ctx context.Context, t task) time.Duration {
	n.mu.Lock()
	condition, disputed := n.condition, n.disputed
	n.mu.Unlock()
	times := n.fleet.cfg.Nodes
	if t == reporting {
		if disputed || time.Since(n.reported) >= time.Duration(times.Report) {
			n.tryReport(ctx, condition)
		}
		return time.Duration(times.Status)
	}
	if condition.stopped {
		n.asking, n.renewal.known, n.held = "", false, false // who starts again knows nothing
		return time.Duration(times.Interval)
	}
	if n.asking == "" {
		n.asking = n.renewal.begin()
	}
	if !n.held {
		n.asked = time.Now()
		if n.held = condition.slows(n.timeout()); n.held {
			n.add(count{Lost: 1})
			return condition.link.Delay
		}
	}
	n.held = false
	got, wait := n.ask(ctx, condition)
	next, after := n.renewal.next(n.asking, got)
	n.asking = next
	if next == "" {
		after = time.Duration(times.Interval) + n.within(time.Duration(jitter*float64(times.Interval)))
	}
	return wait + after
}

// ask asks the API server, unless what is sent gets lost. Then it does not wait,
// which would keep others from their turn, but says how long the node does.
func (n *node) ask(ctx context.Context, c condition) (got answer, wait time.Duration) {
	if timeout := n.timeout(); c.loses(timeout) {
		n.add(count{Lost: 1})
		if c.link.Cut == record.CutReset {
			return failed, 0
		}
		return failed, timeout
	}
	got, _ = n.askFor(ctx, n.asking, c)
	switch {
	case got == failed:
		n.add(count{Failed: 1})
	case got == done && n.asking != get:
		n.add(count{Renewed: 1})
	}
	return got, 0
}

func (n *node) add(c count) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.count.add(c)
	if c.Renewed > 0 {
		n.renewed = time.Now()
	}
}

// askFor sends one request. The error is why the answer is that it failed.
func (n *node) askFor(ctx context.Context, a action, c condition) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, n.timeout())
	defer cancel()
	leases := n.fleet.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	var lease *coordinationv1.Lease
	var err error
	switch a {
	case update:
		lease, err = leases.Update(ctx, n.lease(c), metav1.UpdateOptions{})
	case get:
		lease, err = leases.Get(ctx, n.name, metav1.GetOptions{})
	case create:
		n.version = ""
		lease, err = leases.Create(ctx, n.lease(c), metav1.CreateOptions{})
	}
	switch {
	case err == nil:
		n.version = lease.ResourceVersion
		return done, nil
	case apierrors.IsConflict(err):
		return conflict, nil
	case apierrors.IsNotFound(err):
		return notFound, nil
	default:
		return failed, err
	}
}

// lease is the node's lease, renewed by its own clock.
func (n *node) lease(c condition) *coordinationv1.Lease {
	seconds := int32(time.Duration(n.fleet.cfg.Nodes.Duration) / time.Second)
	now := metav1.NewMicroTime(c.clock.Read(n.asked))
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: n.name, Namespace: corev1.NamespaceNodeLease, ResourceVersion: n.version,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.name, UID: n.uid}},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &n.name, LeaseDurationSeconds: &seconds, RenewTime: &now},
	}
}

// register makes the node and its lease. Those that are there already, left by
// an earlier fleet, are taken over.
func (n *node) register(ctx context.Context) error {
	nodes := n.fleet.client.CoreV1().Nodes()
	created, err := nodes.Create(ctx, n.object(), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		created, err = n.takeOver(ctx)
	}
	if err != nil {
		return fmt.Errorf("registering the simulated node %s: %w", n.name, err)
	}
	n.uid = created.UID
	if err := n.firstLease(ctx); err != nil {
		return fmt.Errorf("making the lease of the simulated node %s: %w", n.name, err)
	}
	n.add(count{Renewed: 1})
	return nil
}

// takeOver makes a node that is there already this one.
func (n *node) takeOver(ctx context.Context) (taken *corev1.Node, err error) {
	nodes := n.fleet.client.CoreV1().Nodes()
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		taken, err = nodes.Get(ctx, n.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		taken.Labels = n.object().Labels
		taken, err = nodes.Update(ctx, taken, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	return taken, n.report(ctx, condition{})
}

// firstLease makes the node's lease, or takes over the one that is there.
func (n *node) firstLease(ctx context.Context) error {
	n.renewal.ensure()
	// There is none, most likely: to ask first would be a request more for each.
	for asking, after := create, time.Duration(0); asking != ""; {
		n.asked = time.Now()
		got, err := n.askFor(ctx, asking, n.condition)
		if asking, after = n.renewal.next(asking, got); after == 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(after):
		}
	}
	return nil
}

// object is the node as it registers, ready from the start.
func (n *node) object() *corev1.Node {
	labels := map[string]string{corev1.LabelHostname: n.name, corev1.LabelOSStable: "linux"}
	if n.zone != "" {
		labels[corev1.LabelTopologyZone] = n.zone
	}
	size := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: labels},
		Status: corev1.NodeStatus{
			Capacity: size, Allocatable: size,
			Conditions: conditions(metav1.Now()),
			NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: "simulated", OperatingSystem: "linux"},
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: n.name}},
		},
	}
}

// conditions are those of a node that is well.
func conditions(now metav1.Time) []corev1.NodeCondition {
	var all []corev1.NodeCondition
	for _, c := range []struct {
		kind   corev1.NodeConditionType
		status corev1.ConditionStatus
		reason string
	}{
		{corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory"},
		{corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure"},
		{corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID"},
		{corev1.NodeReady, corev1.ConditionTrue, "KubeletReady"},
	} {
		all = append(all, corev1.NodeCondition{
			Type: c.kind, Status: c.status, Reason: c.reason, Message: "simulated",
			LastHeartbeatTime: now, LastTransitionTime: now,
		})
	}
	return all
}

// tryReport reports, if the node's condition lets it. What fails is tried again at
// the next turn.
func (n *node) tryReport(ctx context.Context, c condition) {
	switch {
	case c.stopped:
	case c.loses(n.timeout()):
		n.add(count{Lost: 1})
	case n.report(ctx, c) != nil:
		n.add(count{Failed: 1})
	default:
		n.reported = time.Now()
	}
}

// report says that the node is ready, also after another client said otherwise: a
// controller that has not heard of it.
func (n *node) report(ctx context.Context, c condition) error {
	ctx, cancel := context.WithTimeout(ctx, n.timeout())
	defer cancel()
	nodes := n.fleet.client.CoreV1().Nodes()
	now := metav1.NewTime(c.clock.Read(time.Now()))
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		object, err := nodes.Get(ctx, n.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		before := object.Status.Conditions
		object.Status.Conditions = conditions(now)
		for i := range object.Status.Conditions {
			keepTransition(&object.Status.Conditions[i], before)
		}
		_, err = nodes.UpdateStatus(ctx, object, metav1.UpdateOptions{})
		return err
	})
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
